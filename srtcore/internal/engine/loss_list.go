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
	count int // numbers in all runs
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

// add lists first..last with info and returns how many were not listed before.
// Numbers already listed keep their run and its info.
func (l *lossList[T]) add(first, last seq.Number, info T) (added int) {
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
		n := end.Sub(first) + 1
		added += n
		l.count += n
		first = end.Next()
	}
	return added
}

func (l *lossList[T]) insert(i int, r lossRange[T]) {
	var zero lossRange[T]
	l.runs = append(l.runs, zero)
	copy(l.runs[i+1:], l.runs[i:])
	l.runs[i] = r
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
		l.runs = append(l.runs[:i], l.runs[i+1:]...)
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
	k := 0
	for k < len(l.runs) && l.runs[k].last.Less(s) {
		removed += l.runs[k].size()
		k++
	}
	if k > 0 {
		l.runs = append(l.runs[:0], l.runs[k:]...)
	}
	if len(l.runs) > 0 && l.runs[0].first.Less(s) {
		removed += s.Sub(l.runs[0].first)
		l.runs[0].first = s
	}
	l.count -= removed
	return removed
}

func (l *lossList[T]) reset() { l.runs, l.count = nil, 0 }
