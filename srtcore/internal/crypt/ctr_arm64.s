//go:build (linux || darwin) && !purego

#include "textflag.h"

// inGroup holds the block counters 1, 2, 3 and 4 where the counter's low byte
// is, the block's last byte.
DATA inGroup<>+0x00(SB)/8, $0
DATA inGroup<>+0x08(SB)/8, $0x0100000000000000
DATA inGroup<>+0x10(SB)/8, $0
DATA inGroup<>+0x18(SB)/8, $0x0200000000000000
DATA inGroup<>+0x20(SB)/8, $0
DATA inGroup<>+0x28(SB)/8, $0x0300000000000000
DATA inGroup<>+0x30(SB)/8, $0
DATA inGroup<>+0x38(SB)/8, $0x0400000000000000
GLOBL inGroup<>(SB), RODATA|NOPTR, $64

// Registers of xorCTR. V0 to V7 are the blocks, V8 to V11 the counters of
// inGroup, V12 to V15 payload, V16 the counter block of the group's first
// block. The round keys end in V31: the 11 that all key lengths have begin at
// V21, those of 12 rounds at V19, of 14 at V17.
#define SCHED   R0
#define ROUNDS  R1
#define PAYLOAD R3
#define LEFT    R4 // bytes of payload not done
#define COUNT   R5 // block counter

// START4 makes the counter blocks of the first half of a group, START8 of all.
#define START4 \
	REV16W COUNT, R6 \
	VMOV R6, V16.H[7] \
	VMOV V16.B16, V0.B16 \
	VEOR V8.B16, V16.B16, V1.B16 \
	VEOR V9.B16, V16.B16, V2.B16 \
	VEOR V10.B16, V16.B16, V3.B16

#define START8 \
	START4 \
	VEOR V11.B16, V0.B16, V4.B16 \
	VEOR V11.B16, V1.B16, V5.B16 \
	VEOR V11.B16, V2.B16, V6.B16 \
	VEOR V11.B16, V3.B16, V7.B16

// ROUND is AddRoundKey, SubBytes, ShiftRows and MixColumns of one block: FIPS
// 197 shifted by one AddRoundKey against its rounds. Side by side, many
// processors run the two instructions as one.
#define ROUND(key, block) \
	AESE key.B16, block.B16 \
	AESMC block.B16, block.B16

#define ROUND4(key) \
	ROUND(key, V0) \
	ROUND(key, V1) \
	ROUND(key, V2) \
	ROUND(key, V3)

#define ROUND8(key) \
	ROUND4(key) \
	ROUND(key, V4) \
	ROUND(key, V5) \
	ROUND(key, V6) \
	ROUND(key, V7)

// NINE4 and NINE8 are all rounds with MixColumns of 10-round keys.
#define NINE4 \
	ROUND4(V21) \
	ROUND4(V22) \
	ROUND4(V23) \
	ROUND4(V24) \
	ROUND4(V25) \
	ROUND4(V26) \
	ROUND4(V27) \
	ROUND4(V28) \
	ROUND4(V29)

#define NINE8 \
	ROUND8(V21) \
	ROUND8(V22) \
	ROUND8(V23) \
	ROUND8(V24) \
	ROUND8(V25) \
	ROUND8(V26) \
	ROUND8(V27) \
	ROUND8(V28) \
	ROUND8(V29)

// LAST is the end of a block, without MixColumns.
#define LAST(block) \
	AESE V30.B16, block.B16 \
	VEOR V31.B16, block.B16, block.B16

// XORSTEP encrypts n bytes of the tail, if bit is set in LEFT.
#define XORSTEP(n, bit, next, load, store) \
	TBZ $bit, LEFT, next \
	load (R9), R6 \
	load (PAYLOAD), R7 \
	EOR R6, R7, R7 \
	store R7, (PAYLOAD) \
	ADD $n, R9, R9 \
	ADD $n, PAYLOAD, PAYLOAD

// func xorCTR(sched *schedule, rounds int, iv *[16]byte, packet uint64, payload []byte)
TEXT ·xorCTR(SB), NOSPLIT, $128-56
	MOVD sched+0(FP), SCHED
	MOVD rounds+8(FP), ROUNDS
	MOVD iv+16(FP), R2
	MOVD payload_base+32(FP), PAYLOAD
	MOVD payload_len+40(FP), LEFT
	MOVD ZR, COUNT
	MOVD packet+24(FP), R6
	VLD1 (R2), [V16.B16]
	VEOR V0.B16, V0.B16, V0.B16
	VMOV R6, V0.D[1]
	VEOR V0.B16, V16.B16, V16.B16
	MOVD $inGroup<>(SB), R6
	VLD1 (R6), [V8.B16, V9.B16, V10.B16, V11.B16]

	CMP $12, ROUNDS
	BLT keys
	BEQ keys12
	VLD1.P 32(SCHED), [V17.B16, V18.B16]
keys12:
	VLD1.P 32(SCHED), [V19.B16, V20.B16]
keys:
	VLD1.P 64(SCHED), [V21.B16, V22.B16, V23.B16, V24.B16]
	VLD1.P 64(SCHED), [V25.B16, V26.B16, V27.B16, V28.B16]
	VLD1 (SCHED), [V29.B16, V30.B16, V31.B16]

group:
	CMP $128, LEFT
	BLO rest
	START8
	CMP $12, ROUNDS
	BLT ten8
	BEQ twelve8
	ROUND8(V17)
	ROUND8(V18)
twelve8:
	ROUND8(V19)
	ROUND8(V20)
ten8:
	NINE8
	LAST(V0)
	LAST(V1)
	LAST(V2)
	LAST(V3)
	LAST(V4)
	LAST(V5)
	LAST(V6)
	LAST(V7)
	VLD1 (PAYLOAD), [V12.B16, V13.B16, V14.B16, V15.B16]
	VEOR V12.B16, V0.B16, V0.B16
	VEOR V13.B16, V1.B16, V1.B16
	VEOR V14.B16, V2.B16, V2.B16
	VEOR V15.B16, V3.B16, V3.B16
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(PAYLOAD)
	VLD1 (PAYLOAD), [V12.B16, V13.B16, V14.B16, V15.B16]
	VEOR V12.B16, V4.B16, V4.B16
	VEOR V13.B16, V5.B16, V5.B16
	VEOR V14.B16, V6.B16, V6.B16
	VEOR V15.B16, V7.B16, V7.B16
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(PAYLOAD)
	SUB $128, LEFT, LEFT
	ADD $8, COUNT, COUNT
	B group

	// Less than a group is left: its key stream goes to the stack, half a
	// group if that is enough, and is taken from there in ever smaller pieces.
rest:
	CBZ LEFT, done
	MOVD $stream-128(SP), R9
	CMP $64, LEFT
	BLS half
	START8
	CMP $12, ROUNDS
	BLT tenRest
	BEQ twelveRest
	ROUND8(V17)
	ROUND8(V18)
twelveRest:
	ROUND8(V19)
	ROUND8(V20)
tenRest:
	NINE8
	LAST(V4)
	LAST(V5)
	LAST(V6)
	LAST(V7)
	ADD $64, R9, R10
	VST1 [V4.B16, V5.B16, V6.B16, V7.B16], (R10)
	B store4
half:
	START4
	CMP $12, ROUNDS
	BLT tenHalf
	BEQ twelveHalf
	ROUND4(V17)
	ROUND4(V18)
twelveHalf:
	ROUND4(V19)
	ROUND4(V20)
tenHalf:
	NINE4
store4:
	LAST(V0)
	LAST(V1)
	LAST(V2)
	LAST(V3)
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R9)

block:
	CMP $16, LEFT
	BLO bytes
	VLD1.P 16(R9), [V1.B16]
	VLD1 (PAYLOAD), [V0.B16]
	VEOR V1.B16, V0.B16, V0.B16
	VST1.P [V0.B16], 16(PAYLOAD)
	SUB $16, LEFT, LEFT
	B block

bytes:
	XORSTEP(8, 3, four, MOVD, MOVD)
four:
	XORSTEP(4, 2, two, MOVWU, MOVW)
two:
	XORSTEP(2, 1, one, MOVHU, MOVH)
one:
	XORSTEP(1, 0, done, MOVBU, MOVB)
done:
	RET

// func subWord(w uint32) uint32
//
// AESE with a key of zero is SubBytes and ShiftRows; with the word in all four
// columns, ShiftRows changes nothing.
TEXT ·subWord(SB), NOSPLIT, $0-12
	MOVWU w+0(FP), R0
	VDUP R0, V0.S4
	VEOR V1.B16, V1.B16, V1.B16
	AESE V1.B16, V0.B16
	VMOV V0.S[0], R0
	MOVW R0, ret+8(FP)
	RET
