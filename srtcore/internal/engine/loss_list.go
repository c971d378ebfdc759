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
	count int            // numbers in all runs
	base  []lossRange[T] // the whole room that runs is a window of
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

// cut removes the runs from i up to j; those at the front without moving the
// others.
func (l *lossList[T]) cut(i, j int) {
	if i == 0 {
		l.runs = l.runs[j:]
	} else if i < j {
		l.runs = append(l.runs[:i], l.runs[j:]...)
	}
	if len(l.runs) == 0 {
		l.runs = l.base[:0]
	}
}

// remove unlists s and reports whether it was listed.
func (l *lossList[T]) remove(s seq.Number) bool { return l.removeRange(s, s) > 0 }

// removeBefore unlists everything before s and returns how many that were.
func (l *lossList[T]) removeBefore(s seq.Number) (removed int) {
	if len(l.runs) == 0 || s.LessEq(l.runs[0].first) {
		return 0
	}
	return l.removeRange(l.runs[0].first, s.Prev())
}

// removeRange unlists first..last and returns how many of them were listed.
func (l *lossList[T]) removeRange(first, last seq.Number) (removed int) {
	i := l.search(first)
	if i < len(l.runs) && l.runs[i].first.Less(first) {
		l.split(i, first)
		i++
	}
	j := i
	for ; j < len(l.runs) && l.runs[j].last.LessEq(last); j++ {
		removed += l.runs[j].size()
	}
	if j < len(l.runs) && l.runs[j].first.LessEq(last) {
		removed += last.Sub(l.runs[j].first) + 1
		l.runs[j].first = last.Next()
	}
	l.cut(i, j)
	l.count -= removed
	return removed
}

// split makes s the first of a run of its own; it stands within run i.
func (l *lossList[T]) split(i int, s seq.Number) {
	tail := lossRange[T]{s, l.runs[i].last, l.runs[i].info}
	l.runs[i].last = s.Prev()
	l.insert(i+1, tail)
}

func (l *lossList[T]) reset() { l.runs, l.base, l.count = nil, nil, 0 }
