//go:build !purego

package crypt

import (
	"encoding/binary"
	"testing"
)

func TestAuxValue(t *testing.T) {
	var auxv []byte
	for _, v := range []uint64{6, 4096, auxHWCap, 0x8F, 0, 0} {
		auxv = binary.LittleEndian.AppendUint64(auxv, v)
	}
	if v := auxValue(auxv, auxHWCap); v != 0x8F {
		t.Errorf("features: %#x", v)
	}
	if v := auxValue(auxv, 17); v != 0 {
		t.Errorf("an entry that is not there: %#x", v)
	}
	if v := auxValue(auxv[:31], auxHWCap); v != 0 {
		t.Errorf("half an entry: %#x", v)
	}
	if v := auxValue(readAuxv(), 6); v < 4096 {
		t.Errorf("page size: %d", v)
	}
}
