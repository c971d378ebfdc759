package wire

import "strconv"

// RejectReason is the Handshake Type of a rejection. 1000-1999 are the
// protocol's own (section 4.3, table 7), 2000-2999 are predefined for listener
// applications after the model of HTTP status codes, from 3000 on every
// application is free.
type RejectReason int32

const (
	RejUnknown    RejectReason = 1000
	RejSystem     RejectReason = 1001
	RejPeer       RejectReason = 1002
	RejResource   RejectReason = 1003
	RejRogue      RejectReason = 1004
	RejBacklog    RejectReason = 1005
	RejInternal   RejectReason = 1006
	RejClose      RejectReason = 1007
	RejVersion    RejectReason = 1008
	RejRdvCookie  RejectReason = 1009
	RejBadSecret  RejectReason = 1010
	RejUnsecure   RejectReason = 1011
	RejMessageAPI RejectReason = 1012
	RejCongestion RejectReason = 1013
	RejFilter     RejectReason = 1014
	RejGroup      RejectReason = 1015
	RejTimeout    RejectReason = 1016 // local only, never sent
	RejCryptoMode RejectReason = 1017
)

// Reasons predefined for applications. RejPredefined itself is what a refusal
// without a code of its own is sent as.
const (
	RejPredefined          RejectReason = 2000
	RejKeyNotSupported     RejectReason = 2001
	RejFilePath            RejectReason = 2002
	RejHostNotFound        RejectReason = 2003
	RejBadRequest          RejectReason = 2400
	RejUnauthorized        RejectReason = 2401
	RejOverload            RejectReason = 2402
	RejForbidden           RejectReason = 2403
	RejNotFound            RejectReason = 2404
	RejBadMode             RejectReason = 2405
	RejUnacceptable        RejectReason = 2406
	RejConflict            RejectReason = 2409
	RejUnsupportedMedia    RejectReason = 2415
	RejLocked              RejectReason = 2423
	RejFailedDependency    RejectReason = 2424
	RejServerError         RejectReason = 2500
	RejUnimplemented       RejectReason = 2501
	RejGateway             RejectReason = 2502
	RejDown                RejectReason = 2503
	RejVersionNotSupported RejectReason = 2505
	RejNoRoom              RejectReason = 2507
)

// RejUser is the first code that applications define themselves.
const RejUser RejectReason = 3000

// IsPredefined reports whether r lies in the range 2000-2999.
func (r RejectReason) IsPredefined() bool { return r >= RejPredefined && r < RejUser }

// IsUser reports whether r is an application's own code.
func (r RejectReason) IsUser() bool { return r >= RejUser }

var rejectNames = map[RejectReason]string{
	RejUnknown:    "unknown reason",
	RejSystem:     "system error",
	RejPeer:       "rejected by peer",
	RejResource:   "out of resources",
	RejRogue:      "rogue handshake",
	RejBacklog:    "backlog full",
	RejInternal:   "internal error",
	RejClose:      "closing",
	RejVersion:    "version too old",
	RejRdvCookie:  "rendezvous cookie collision",
	RejBadSecret:  "bad secret",
	RejUnsecure:   "one side unsecured",
	RejMessageAPI: "stream or message API mismatch",
	RejCongestion: "congestion control mismatch",
	RejFilter:     "packet filter mismatch",
	RejGroup:      "group mismatch",
	RejTimeout:    "timeout",
	RejCryptoMode: "crypto mode mismatch",

	RejPredefined:          "refused by application",
	RejKeyNotSupported:     "stream id key not supported",
	RejFilePath:            "bad file path",
	RejHostNotFound:        "host not found",
	RejBadRequest:          "bad request",
	RejUnauthorized:        "unauthorized",
	RejOverload:            "overload",
	RejForbidden:           "forbidden",
	RejNotFound:            "not found",
	RejBadMode:             "bad mode",
	RejUnacceptable:        "unacceptable",
	RejConflict:            "conflict",
	RejUnsupportedMedia:    "unsupported media",
	RejLocked:              "locked",
	RejFailedDependency:    "failed dependency",
	RejServerError:         "server error",
	RejUnimplemented:       "unimplemented",
	RejGateway:             "bad gateway",
	RejDown:                "service unavailable",
	RejVersionNotSupported: "version not supported",
	RejNoRoom:              "no room",
}

// String returns a short name, or the number where there is none.
func (r RejectReason) String() string {
	if s, ok := rejectNames[r]; ok {
		return s
	}
	n := strconv.Itoa(int(r))
	switch {
	case r.IsUser():
		return "user code " + n
	case r.IsPredefined():
		return "predefined code " + n
	}
	return "reason " + n
}
