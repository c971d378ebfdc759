package execwrap

import "strings"

// mpv hands addresses to FFmpeg, with options of FFmpeg's in --stream-lavf-o.
func (w *rewriter) mpv(args []string) error {
	front, rest := mpvOptions(args)
	used := false
	for _, a := range rest {
		raw := withoutLavf(a)
		if !isSRT(raw) {
			w.emit(a)
			continue
		}
		l, err := w.address(raw, front)
		if err != nil {
			return err
		}
		if l.timeout != "" {
			w.note("timeout of %s is left out: mpv has --network-timeout", shown(raw))
		}
		used = true
		w.emit(l.url)
	}
	if !used && len(front) > 0 {
		w.plan.Args = append(w.plan.Args[:len(w.plan.Args)-len(rest)], args...)
	}
	return nil
}

// withoutLavf takes off what names FFmpeg as the one who opens the address.
func withoutLavf(arg string) string {
	for _, p := range []string{"ffmpeg://", "lavf://"} {
		if strings.HasPrefix(arg, p+srtScheme) {
			return arg[len(p):]
		}
	}
	return arg
}

// mpvOptions takes the options of FFmpeg's SRT out of --stream-lavf-o=a=b,c=d.
func mpvOptions(args []string) (front []setting, rest []string) {
	for _, a := range args {
		name, list, ok := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		switch strings.TrimPrefix(name, "-") {
		case "stream-lavf-o", "stream-lavf-o-append", "stream-lavf-o-add", "stream-lavf-o-set":
		default:
			ok = false
		}
		if !ok || !strings.HasPrefix(a, "-") {
			rest = append(rest, a)
			continue
		}
		var kept []string
		for pair := range strings.SplitSeq(list, ",") {
			key, value, _ := strings.Cut(pair, "=")
			if _, ours := srtOptions[key]; ours {
				front = append(front, setting{key, value})
			} else {
				kept = append(kept, pair)
			}
		}
		if len(kept) > 0 {
			rest = append(rest, a[:len(a)-len(list)]+strings.Join(kept, ","))
		}
	}
	return front, rest
}
