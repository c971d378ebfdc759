package srtcore

import (
	"reflect"
	"strconv"
	"strings"
)

// Sub returns s with the interval values counted from prev to s, as libsrt's
// clear argument does. Both are results of Conn.Stats on one connection, prev the
// older. Totals and instantaneous values stay those of s, and so do
// PktReorderDistance, a maximum, and PktRcvAvgBelatedTime, an average.
func (s Stats) Sub(prev Stats) Stats {
	d := s
	now, before := d.intervals(), prev.intervals()
	for i := range now {
		*now[i] -= *before[i]
	}
	elapsedMs := s.MsTimeStamp - prev.MsTimeStamp
	d.MbpsSendRate = mbps(d.ByteSent, elapsedMs)
	d.MbpsRecvRate = mbps(d.ByteRecv, elapsedMs)
	return d
}

// mbps is a rate in megabits per second; 0 over no time.
func mbps(bytes, ms int64) float64 {
	if ms <= 0 {
		return 0
	}
	return float64(bytes) * 8 / 1000 / float64(ms)
}

// intervals lists the counters that an interval counts anew.
func (s *Stats) intervals() []*int64 {
	return []*int64{
		&s.PktSent, &s.PktRecv, &s.PktSndLoss, &s.PktRcvLoss, &s.PktRetrans, &s.PktRcvRetrans,
		&s.PktSentACK, &s.PktRecvACK, &s.PktSentNAK, &s.PktRecvNAK,
		&s.UsSndDuration, &s.PktRcvBelated,
		&s.PktSndDrop, &s.PktRcvDrop, &s.PktRcvUndecrypt,
		&s.ByteSent, &s.ByteRecv, &s.ByteRcvLoss, &s.ByteRetrans,
		&s.ByteSndDrop, &s.ByteRcvDrop, &s.ByteRcvUndecrypt,
		&s.PktSndFilterExtra, &s.PktRcvFilterExtra, &s.PktRcvFilterSupply, &s.PktRcvFilterLoss,
		&s.PktSentUnique, &s.PktRecvUnique, &s.ByteSentUnique, &s.ByteRecvUnique,
	}
}

// StatsCSVHeader returns the names of the columns of Stats.CSVRow: libsrt's
// names in libsrt's order, then the extras. Write both with encoding/csv.
func StatsCSVHeader() []string {
	t := reflect.TypeFor[Stats]()
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// CSVRow returns the values under StatsCSVHeader.
func (s Stats) CSVRow() []string {
	v := reflect.ValueOf(s)
	row := make([]string, v.NumField())
	for i := range row {
		switch f := v.Field(i); f.Kind() {
		case reflect.Float64:
			row[i] = strconv.FormatFloat(f.Float(), 'f', -1, 64)
		case reflect.String:
			row[i] = f.String()
		default:
			row[i] = strconv.FormatInt(f.Int(), 10)
		}
	}
	return row
}
