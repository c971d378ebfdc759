//go:build !purego

#include "textflag.h"

// inGroup holds the last three bits of the block counter for the eight blocks
// of a group. The counter is big-endian, so they are in the block's last byte.
DATA inGroup<>+0x00(SB)/8, $0
DATA inGroup<>+0x08(SB)/8, $0x0100000000000000
DATA inGroup<>+0x10(SB)/8, $0
DATA inGroup<>+0x18(SB)/8, $0x0200000000000000
DATA inGroup<>+0x20(SB)/8, $0
DATA inGroup<>+0x28(SB)/8, $0x0300000000000000
DATA inGroup<>+0x30(SB)/8, $0
DATA inGroup<>+0x38(SB)/8, $0x0400000000000000
DATA inGroup<>+0x40(SB)/8, $0
DATA inGroup<>+0x48(SB)/8, $0x0500000000000000
DATA inGroup<>+0x50(SB)/8, $0
DATA inGroup<>+0x58(SB)/8, $0x0600000000000000
DATA inGroup<>+0x60(SB)/8, $0
DATA inGroup<>+0x68(SB)/8, $0x0700000000000000
GLOBL inGroup<>(SB), RODATA|NOPTR, $112

// Registers of xorCTR.
#define SCHED   SI // round keys
#define TAIL    DX // 10 keys before the end of the round keys
#define ROUNDS  CX
#define PAYLOAD DI
#define LEFT    BX // bytes of payload not done
#define COUNT   R8 // block counter
#define BASE    X13 // counter block without the counter, round key 0 added
#define COUNTER X14 // the counter where it belongs, all else zero
#define KEY     X15

// START4 makes the first four blocks of a group ready for round 1, START8 all.
// The first AddRoundKey is in BASE.
#define START4 \
	MOVL COUNT, AX \
	ROLW $8, AX \
	PINSRW $7, AX, COUNTER \
	MOVO BASE, X0 \
	PXOR COUNTER, X0 \
	MOVOU inGroup<>+0x00(SB), X1 \
	MOVOU inGroup<>+0x10(SB), X2 \
	MOVOU inGroup<>+0x20(SB), X3 \
	PXOR X0, X1 \
	PXOR X0, X2 \
	PXOR X0, X3

#define START8 \
	START4 \
	MOVOU inGroup<>+0x30(SB), X4 \
	MOVOU inGroup<>+0x40(SB), X5 \
	MOVOU inGroup<>+0x50(SB), X6 \
	MOVOU inGroup<>+0x60(SB), X7 \
	PXOR X0, X4 \
	PXOR X0, X5 \
	PXOR X0, X6 \
	PXOR X0, X7

// ROUND4 and ROUND8 do one round, with round key n from base.
#define ROUND4(n, base) \
	MOVOU (n*16)(base), KEY \
	AESENC KEY, X0 \
	AESENC KEY, X1 \
	AESENC KEY, X2 \
	AESENC KEY, X3

#define ROUND8(n, base) \
	ROUND4(n, base) \
	AESENC KEY, X4 \
	AESENC KEY, X5 \
	AESENC KEY, X6 \
	AESENC KEY, X7

// NINE4 and NINE8 are the nine rounds before the last one.
#define NINE4 \
	ROUND4(1, TAIL) \
	ROUND4(2, TAIL) \
	ROUND4(3, TAIL) \
	ROUND4(4, TAIL) \
	ROUND4(5, TAIL) \
	ROUND4(6, TAIL) \
	ROUND4(7, TAIL) \
	ROUND4(8, TAIL) \
	ROUND4(9, TAIL)

#define NINE8 \
	ROUND8(1, TAIL) \
	ROUND8(2, TAIL) \
	ROUND8(3, TAIL) \
	ROUND8(4, TAIL) \
	ROUND8(5, TAIL) \
	ROUND8(6, TAIL) \
	ROUND8(7, TAIL) \
	ROUND8(8, TAIL) \
	ROUND8(9, TAIL)

// LASTXOR does the last round of a block straight onto the payload: the round
// adds its key at the very end, so payload XOR key serves as the key.
#define LASTXOR(i, block) \
	MOVOU (i*16)(PAYLOAD), X8 \
	PXOR KEY, X8 \
	AESENCLAST X8, block \
	MOVOU block, (i*16)(PAYLOAD)

// LASTSTORE does the last round of a block and keeps the key stream.
#define LASTSTORE(i, block) \
	AESENCLAST KEY, block \
	MOVOU block, stream-(128-i*16)(SP)

// XORSTEP encrypts n bytes of the tail through AX, if n is in LEFT.
#define XORSTEP(n, next, mov, xor) \
	TESTQ $n, LEFT \
	JZ next \
	mov (R9), AX \
	xor AX, (PAYLOAD) \
	ADDQ $n, R9 \
	ADDQ $n, PAYLOAD

// func xorCTR(sched *schedule, rounds int, iv *[16]byte, packet uint64, payload []byte)
TEXT ·xorCTR(SB), NOSPLIT, $128-56
	MOVQ sched+0(FP), SCHED
	MOVQ rounds+8(FP), ROUNDS
	MOVQ iv+16(FP), AX
	MOVQ payload_base+32(FP), PAYLOAD
	MOVQ payload_len+40(FP), LEFT
	MOVQ packet+24(FP), BASE
	PSLLDQ $8, BASE
	MOVOU (AX), X0
	PXOR X0, BASE
	MOVOU (SCHED), KEY
	PXOR KEY, BASE
	PXOR COUNTER, COUNTER
	XORL COUNT, COUNT

	// Longer keys have two or four more rounds in front of the ten that all
	// have.
	MOVQ ROUNDS, TAIL
	SUBQ $10, TAIL
	SHLQ $4, TAIL
	ADDQ SCHED, TAIL

group:
	CMPQ LEFT, $128
	JB rest
	START8
	CMPQ ROUNDS, $12
	JB ten8
	ROUND8(1, SCHED)
	ROUND8(2, SCHED)
	JE ten8
	ROUND8(3, SCHED)
	ROUND8(4, SCHED)
ten8:
	NINE8
	MOVOU 160(TAIL), KEY
	LASTXOR(0, X0)
	LASTXOR(1, X1)
	LASTXOR(2, X2)
	LASTXOR(3, X3)
	LASTXOR(4, X4)
	LASTXOR(5, X5)
	LASTXOR(6, X6)
	LASTXOR(7, X7)
	ADDQ $128, PAYLOAD
	SUBQ $128, LEFT
	ADDL $8, COUNT
	JMP group

	// Less than a group is left: its key stream goes to the stack, half a
	// group if that is enough, and is taken from there in ever smaller pieces.
rest:
	TESTQ LEFT, LEFT
	JZ done
	CMPQ LEFT, $64
	JBE half
	START8
	CMPQ ROUNDS, $12
	JB tenRest
	ROUND8(1, SCHED)
	ROUND8(2, SCHED)
	JE tenRest
	ROUND8(3, SCHED)
	ROUND8(4, SCHED)
tenRest:
	NINE8
	MOVOU 160(TAIL), KEY
	LASTSTORE(4, X4)
	LASTSTORE(5, X5)
	LASTSTORE(6, X6)
	LASTSTORE(7, X7)
	JMP store4
half:
	START4
	CMPQ ROUNDS, $12
	JB tenHalf
	ROUND4(1, SCHED)
	ROUND4(2, SCHED)
	JE tenHalf
	ROUND4(3, SCHED)
	ROUND4(4, SCHED)
tenHalf:
	NINE4
	MOVOU 160(TAIL), KEY
store4:
	LASTSTORE(0, X0)
	LASTSTORE(1, X1)
	LASTSTORE(2, X2)
	LASTSTORE(3, X3)
	LEAQ stream-128(SP), R9

block:
	CMPQ LEFT, $16
	JB bytes
	MOVOU (R9), X1
	MOVOU (PAYLOAD), X0
	PXOR X1, X0
	MOVOU X0, (PAYLOAD)
	ADDQ $16, R9
	ADDQ $16, PAYLOAD
	SUBQ $16, LEFT
	JMP block

bytes:
	XORSTEP(8, four, MOVQ, XORQ)
four:
	XORSTEP(4, two, MOVL, XORL)
two:
	XORSTEP(2, one, MOVW, XORW)
one:
	XORSTEP(1, done, MOVB, XORB)
done:
	RET

// func subWord(w uint32) uint32
//
// The last round without a key is SubBytes and ShiftRows; with the word in all
// four columns, ShiftRows changes nothing.
TEXT ·subWord(SB), NOSPLIT, $0-12
	MOVL w+0(FP), AX
	MOVL AX, X0
	PSHUFD $0, X0, X0
	PXOR X1, X1
	AESENCLAST X1, X0
	MOVL X0, AX
	MOVL AX, ret+8(FP)
	RET

// func cpuFeatures() uint32
TEXT ·cpuFeatures(SB), NOSPLIT, $0-4
	MOVL $1, AX
	XORL CX, CX
	CPUID
	MOVL CX, ret+0(FP)
	RET
