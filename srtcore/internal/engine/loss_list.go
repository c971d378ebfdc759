package engine

import (
	"sort"

	"github.com/weirline/weirline/srtcore/seq"
)

// lossRange is a run of lost numbers, first to last.
type lossRange[T any] struct {
	first, last seq.Number
	info        T // what the owner knows of the whole run
}

func (r *lossRange[T]) size() int { return r.last.Sub(r.first) + 1 }

// lossList is a sorted list of disjoint runs of lost numbers. All numbers lie
// within one flow window, so that circular order is total among them.
type lossList[T any] struct {
	runs  []lossRange[T]
	base  []lossRange[T] // the whole room that runs is a window of
	count int            // numbers in all runs
}

// search returns the index of the first run that ends at or after s.
func (l *lossList[T]) search(s seq.Number) int {
	// Almost always the number lies in the first run or behind all of them.
	if len(l.runs) == 0 || s.LessEq(l.runs[0].last) {
		return 0
	}
	if l.runs[len(l.runs)-1].last.Less(s) {
		return len(l.runs)
	}
	return sort.Search(len(l.runs), func(i int) bool { return s.LessEq(l.runs[i].last) })
}

// contains reports whether s is listed.
func (l *lossList[T]) contains(s seq.Number) bool {
	i := l.search(s)
	return i < len(l.runs) && l.runs[i].first.LessEq(s)
}

// add lists first..last with info and returns how many were not listed before;
// each, unless nil, is told the runs of these. Numbers already listed keep
// their run and its info.
func (l *lossList[T]) add(first, last seq.Number, info T, each func(first, last seq.Number)) (added int) {
	for first.LessEq(last) {
		i := l.search(first)
		if i < len(l.runs) && l.runs[i].first.LessEq(first) {
			first = l.runs[i].last.Next()
			continue
		}
		end := last
		if i < len(l.runs) && l.runs[i].first.LessEq(end) {
			end = l.runs[i].first.Prev()
		}
		l.insert(i, lossRange[T]{first, end, info})
		if each != nil {
			each(first, end)
		}
		n := end.Sub(first) + 1
		added += n
		l.count += n
		first = end.Next()
	}
	return added
}

func (l *lossList[T]) insert(i int, r lossRange[T]) {
	l.makeRoom()
	l.runs = l.runs[:len(l.runs)+1]
	copy(l.runs[i+1:], l.runs[i:])
	l.runs[i] = r
}

// makeRoom makes room for one more run: by moving to the front of the room if
// half of it is free there, else by doubling it.
func (l *lossList[T]) makeRoom() {
	n := len(l.runs)
	if n < cap(l.runs) {
		return
	}
	if n == 0 || 2*n > cap(l.base) {
		l.base = make([]lossRange[T], max(2*n, 8))
	}
	l.base = l.base[:cap(l.base)]
	copy(l.base, l.runs)
	l.runs = l.base[:n]
}

// cut removes run i; the front one without moving the others.
func (l *lossList[T]) cut(i int) {
	if i == 0 {
		l.runs = l.runs[1:]
	} else {
		l.runs = append(l.runs[:i], l.runs[i+1:]...)
	}
	if len(l.runs) == 0 {
		l.runs = l.base[:0]
	}
}

// remove unlists s and reports whether it was listed.
func (l *lossList[T]) remove(s seq.Number) bool {
	i := l.search(s)
	if i >= len(l.runs) || !l.runs[i].first.LessEq(s) {
		return false
	}
	l.count--
	r := &l.runs[i]
	switch {
	case r.first == r.last:
		l.cut(i)
	case s == r.first:
		r.first = s.Next()
	case s == r.last:
		r.last = s.Prev()
	default:
		tail := lossRange[T]{s.Next(), r.last, r.info}
		r.last = s.Prev()
		l.insert(i+1, tail)
	}
	return true
}

// removeBefore unlists everything before s and returns how many that were.
func (l *lossList[T]) removeBefore(s seq.Number) (removed int) {
	for len(l.runs) > 0 && l.runs[0].last.Less(s) {
		removed += l.runs[0].size()
		l.cut(0)
	}
	if len(l.runs) > 0 && l.runs[0].first.Less(s) {
		removed += s.Sub(l.runs[0].first)
		l.runs[0].first = s
	}
	l.count -= removed
	return removed
}

func (l *lossList[T]) reset() { l.runs, l.base, l.count = nil, nil, 0 }
