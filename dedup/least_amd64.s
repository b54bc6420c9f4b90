#include "textflag.h"

// func leastAVX2(x *uint32, n int, flip, factor, low uint32) uint32
//
// leastAVX2 returns the minimum of low and of the values (y ^ y>>15) * secondRound
// with y = (x[i] ^ flip) * factor, for all i below n. The argument n must be a
// positive multiple of 32. The loop processes four vectors of eight values at a time,
// because a multiplication takes ten cycles and a new one can start every cycle.
TEXT ·leastAVX2(SB), NOSPLIT, $0-36
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVL flip+16(FP), AX
	MOVQ AX, X12
	VPBROADCASTD X12, Y12
	MOVL factor+20(FP), AX
	MOVQ AX, X13
	VPBROADCASTD X13, Y13
	MOVL low+24(FP), AX
	MOVQ AX, X8
	VPBROADCASTD X8, Y8
	MOVL $0x7FEB352D, AX
	MOVQ AX, X14
	VPBROADCASTD X14, Y14
	VMOVDQA Y8, Y9
	VMOVDQA Y8, Y10
	VMOVDQA Y8, Y11

loop:
	VPXOR   0(SI), Y12, Y0
	VPXOR   32(SI), Y12, Y1
	VPXOR   64(SI), Y12, Y2
	VPXOR   96(SI), Y12, Y3
	VPMULLD Y13, Y0, Y0
	VPMULLD Y13, Y1, Y1
	VPMULLD Y13, Y2, Y2
	VPMULLD Y13, Y3, Y3
	VPSRLD  $15, Y0, Y4
	VPSRLD  $15, Y1, Y5
	VPSRLD  $15, Y2, Y6
	VPSRLD  $15, Y3, Y7
	VPXOR   Y4, Y0, Y0
	VPXOR   Y5, Y1, Y1
	VPXOR   Y6, Y2, Y2
	VPXOR   Y7, Y3, Y3
	VPMULLD Y14, Y0, Y0
	VPMULLD Y14, Y1, Y1
	VPMULLD Y14, Y2, Y2
	VPMULLD Y14, Y3, Y3
	VPMINUD Y0, Y8, Y8
	VPMINUD Y1, Y9, Y9
	VPMINUD Y2, Y10, Y10
	VPMINUD Y3, Y11, Y11
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     loop

	VPMINUD      Y9, Y8, Y8
	VPMINUD      Y11, Y10, Y10
	VPMINUD      Y10, Y8, Y8
	VEXTRACTI128 $1, Y8, X9
	VPMINUD      X9, X8, X8
	VPSHUFD      $0x4E, X8, X9
	VPMINUD      X9, X8, X8
	VPSHUFD      $0xB1, X8, X9
	VPMINUD      X9, X8, X8
	VMOVD        X8, AX
	MOVL         AX, ret+32(FP)
	VZEROUPPER
	RET
