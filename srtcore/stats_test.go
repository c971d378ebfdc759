package srtcore

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// libsrtStats are the fields of libsrt's statistics, in its order.
var libsrtStats = []string{
	"msTimeStamp", "pktSentTotal", "pktRecvTotal", "pktSndLossTotal", "pktRcvLossTotal",
	"pktRetransTotal", "pktSentACKTotal", "pktRecvACKTotal", "pktSentNAKTotal", "pktRecvNAKTotal",
	"usSndDurationTotal", "pktSndDropTotal", "pktRcvDropTotal", "pktRcvUndecryptTotal",
	"byteSentTotal", "byteRecvTotal", "byteRcvLossTotal", "byteRetransTotal", "byteSndDropTotal",
	"byteRcvDropTotal", "byteRcvUndecryptTotal", "pktSent", "pktRecv", "pktSndLoss", "pktRcvLoss",
	"pktRetrans", "pktRcvRetrans", "pktSentACK", "pktRecvACK", "pktSentNAK", "pktRecvNAK",
	"mbpsSendRate", "mbpsRecvRate", "usSndDuration", "pktReorderDistance", "pktRcvAvgBelatedTime",
	"pktRcvBelated", "pktSndDrop", "pktRcvDrop", "pktRcvUndecrypt", "byteSent", "byteRecv",
	"byteRcvLoss", "byteRetrans", "byteSndDrop", "byteRcvDrop", "byteRcvUndecrypt", "usPktSndPeriod",
	"pktFlowWindow", "pktCongestionWindow", "pktFlightSize", "msRTT", "mbpsBandwidth",
	"byteAvailSndBuf", "byteAvailRcvBuf", "mbpsMaxBW", "byteMSS", "pktSndBuf", "byteSndBuf",
	"msSndBuf", "msSndTsbPdDelay", "pktRcvBuf", "byteRcvBuf", "msRcvBuf", "msRcvTsbPdDelay",
	"pktSndFilterExtraTotal", "pktRcvFilterExtraTotal", "pktRcvFilterSupplyTotal",
	"pktRcvFilterLossTotal", "pktSndFilterExtra", "pktRcvFilterExtra", "pktRcvFilterSupply",
	"pktRcvFilterLoss", "pktReorderTolerance", "pktSentUniqueTotal", "pktRecvUniqueTotal",
	"byteSentUniqueTotal", "byteRecvUniqueTotal", "pktSentUnique", "pktRecvUnique", "byteSentUnique",
	"byteRecvUnique",
}

func TestStatsHaveLibsrtsNames(t *testing.T) {
	want := append(slices.Clone(libsrtStats), "sndKMState", "rcvKMState", "pbKeyLen", "peerVersion")
	if got := StatsCSVHeader(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for f := range reflect.TypeFor[Stats]().Fields() {
		if tag := f.Tag.Get("json"); !strings.EqualFold(tag, f.Name) {
			t.Errorf("field %s is called %q", f.Name, tag)
		}
	}
}

func TestStatsJSON(t *testing.T) {
	text, err := json.Marshal(Stats{PktSentTotal: 60, MsRTT: 0.25, SndKMState: "SECURED"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"pktSentTotal":60`, `"msRTT":0.25`, `"sndKMState":"SECURED"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestStatsCSV(t *testing.T) {
	s := Stats{MsTimeStamp: 1090, MbpsRecvRate: 0.598872, PBKeyLen: 16, PeerVersion: "1.5.5"}
	header, row := StatsCSVHeader(), s.CSVRow()
	if len(header) != len(row) {
		t.Fatalf("%d names, %d values", len(header), len(row))
	}
	for name, want := range map[string]string{
		"msTimeStamp": "1090", "mbpsRecvRate": "0.598872", "pbKeyLen": "16", "peerVersion": "1.5.5", "pktSent": "0",
	} {
		if got := row[slices.Index(header, name)]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Every counter with a twin ending in Total is an interval counter; so are the
// two that have no twin.
func TestStatsSubCountsEveryInterval(t *testing.T) {
	var older, newer Stats
	fill(&older, 10)
	fill(&newer, 17)
	d := reflect.ValueOf(newer.Sub(older))
	for i := range d.NumField() {
		name := d.Type().Field(i).Name
		if d.Field(i).Kind() != reflect.Int64 {
			continue
		}
		twin := d.FieldByName(name + "Total")
		want := int64(17)
		if twin.IsValid() || name == "PktRcvRetrans" || name == "PktRcvBelated" {
			want = 7
		}
		if got := d.Field(i).Int(); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

// fill sets every counter to n.
func fill(s *Stats, n int64) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Int64 {
			v.Field(i).SetInt(n)
		}
	}
}

func TestStatsSubRates(t *testing.T) {
	older := Stats{MsTimeStamp: 1000, ByteSent: 1000, ByteRecv: 5000}
	newer := Stats{MsTimeStamp: 3000, ByteSent: 251_000, ByteRecv: 5000, MbpsSendRate: 9, MbpsRecvRate: 9}
	d := newer.Sub(older)
	if math.Abs(d.MbpsSendRate-1) > 1e-9 || d.MbpsRecvRate != 0 {
		t.Errorf("rates %v, %v, want 1, 0", d.MbpsSendRate, d.MbpsRecvRate)
	}
	if d := newer.Sub(newer); d.MbpsSendRate != 0 || d.ByteSent != 0 {
		t.Errorf("no time: %v Mb/s, %d bytes", d.MbpsSendRate, d.ByteSent)
	}
}
