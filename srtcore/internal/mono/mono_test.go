package mono_test

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

func TestAdd(t *testing.T) {
	tests := []struct {
		t    mono.Time
		d    time.Duration
		want mono.Time
	}{
		{5, 7, 12},
		{5, -7, -2},
		{mono.Never, time.Hour, mono.Never},
		{mono.Never, -time.Hour, mono.Never},
		{mono.Never - 1, 1, mono.Never},
		{mono.Never - 1, 2, mono.Never},
		{1, 1<<63 - 1, mono.Never},
		{-1, 1<<63 - 1, mono.Never - 1},
	}
	for _, tt := range tests {
		if got := tt.t.Add(tt.d); got != tt.want {
			t.Errorf("%d + %d = %d, want %d", tt.t, tt.d, got, tt.want)
		}
	}
}

func TestOrder(t *testing.T) {
	early, late := mono.Time(3), mono.Time(1003)
	if !early.Before(late) || early.After(late) || early.Before(early) || early.After(early) || !late.After(early) {
		t.Error("Before and After")
	}
	if late.Sub(early) != 1000 || early.Sub(late) != -1000 {
		t.Error("Sub")
	}
	if mono.Min(early, late) != early || mono.Min(late, early) != early || mono.Min(early, mono.Never) != early {
		t.Error("Min")
	}
	if late.Micros() != 1 || mono.Time(-late).Micros() != -1 {
		t.Error("Micros")
	}
}
