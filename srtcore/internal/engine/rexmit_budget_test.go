package engine

import "testing"

func TestRexmitBudget(t *testing.T) {
	var b rexmitBudget
	b.init()
	b.setRate(0)
	for b.spend(1500) {
	}
	if b.spend(1500) {
		t.Fatal("spent beyond the burst")
	}
	for range 4 {
		b.earn(1456, 25)
	}
	if !b.spend(1500) || b.spend(1500) {
		t.Fatal("four new packets at 25 percent must pay for exactly one")
	}
}

// An input whose rate goes up and down earns no more than a steady one.
func TestRexmitBudgetOfAVaryingInput(t *testing.T) {
	var b rexmitBudget
	b.init()
	spent := 0
	for range 100 {
		for _, rate := range []int{500_000, 2_000_000} {
			b.setRate(rate)
			for b.spend(1000) {
				spent += 1000
			}
		}
	}
	if spent > 2_000_000 {
		t.Errorf("%d bytes of retransmissions without a new packet, want at most a second's worth", spent)
	}
}
