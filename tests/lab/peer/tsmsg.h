// The message of msg.h in the shape of an MPEG transport stream, for paths that
// carry bytes and cut them at packets: seven packets of 188 bytes, each with the
// header of a payload packet of PID 0x1ffe. Little endian:
//   4  u32 magic 'WTSM' 0x4d535457
//   8  u32 stream index
//   12 u64 sequence number (0,1,2,... per stream)
//   20 u64 CLOCK_MONOTONIC ns at the moment of building the message
//   28 u32 CRC32C of bytes [0,28) ++ [32,1316)
//   32 ..  pool[off .. off+1284) of msg.h, but for the six further packet headers
#ifndef TSMSG_H
#define TSMSG_H
#include "msg.h"
#define TS_MAGIC 0x4d535457u
#define TS_PKT 188
static inline void ts_build(unsigned char* m, uint32_t stream, uint64_t seq, uint64_t ts) {
    uint32_t magic = TS_MAGIC;
    memcpy(m + MSG_HDR, g_pool + msg_off(stream, seq), MSG_LEN - MSG_HDR);
    for (int i = 0; i < MSG_LEN / TS_PKT; i++) {
        unsigned char* p = m + i * TS_PKT;
        p[0] = 0x47; p[1] = 0x1f; p[2] = 0xfe; p[3] = (unsigned char)(0x10 | ((seq * 7 + i) & 15));
    }
    memcpy(m + 4, &magic, 4);
    memcpy(m + 8, &stream, 4);
    memcpy(m + 12, &seq, 8);
    memcpy(m + 20, &ts, 8);
    uint32_t c = ~crc_upd(crc_upd(0xffffffffu, m, 28), m + 32, MSG_LEN - 32);
    memcpy(m + 28, &c, 4);
}
#endif
