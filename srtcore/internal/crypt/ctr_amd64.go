//go:build !purego

package crypt

// featureAES is the bit of AES-NI in what cpuFeatures returns. All else that
// ctr_amd64.s uses is part of every amd64.
const featureAES = 1 << 25

// cpuFeatures returns register ECX of CPUID leaf 1.
func cpuFeatures() uint32

func cpuHasAES() bool { return cpuFeatures()&featureAES != 0 }
