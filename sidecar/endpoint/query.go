package endpoint

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// splitQuery cuts raw at its first question mark.
func splitQuery(raw string) (rest, query string) {
	rest, query, _ = strings.Cut(raw, "?")
	return rest, query
}

// options takes the query apart. A key that is not in allowed is an error:
// a misspelt option must not be ignored.
func options(query string, allowed ...string) (map[string]string, error) {
	got := map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		k, v, _ := strings.Cut(pair, "=")
		if !contains(allowed, k) {
			return nil, &URLError{Problem: fmt.Sprintf("option %q is unknown: allowed %s", k, strings.Join(allowed, ", "))}
		}
		v, err := url.PathUnescape(v)
		if err != nil {
			return nil, &URLError{Problem: fmt.Sprintf("option %q: a lone %% must be written %%25", k)}
		}
		got[k] = v
	}
	return got, nil
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// extract removes the pairs with our own keys from a query that is otherwise
// for someone else to read, and leaves the rest as it was, byte for byte.
func extract(query string, keys ...string) (rest string, got map[string]string) {
	got = map[string]string{}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		k, v, _ := strings.Cut(pair, "=")
		if contains(keys, k) {
			got[k] = v
		} else {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&"), got
}

func parseBool(key, v string) (bool, error) {
	switch strings.ToLower(v) {
	case "1", "yes", "true", "on":
		return true, nil
	case "0", "no", "false", "off":
		return false, nil
	}
	return false, &URLError{Problem: fmt.Sprintf("option %q = %q is not a truth value: allowed 1, 0, yes, no", key, v)}
}

func parseInt(key, v string, least, most int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		return 0, &URLError{Problem: fmt.Sprintf("option %q = %q is refused: allowed %d..%d", key, v, least, most)}
	}
	return n, nil
}

// parseDuration takes 500 (milliseconds, as all our options), 500ms, 2s.
func parseDuration(key, v string) (time.Duration, error) {
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return time.Duration(n) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, &URLError{Problem: fmt.Sprintf("option %q = %q is not a time: allowed milliseconds, or a unit as in 500ms, 2s", key, v)}
	}
	return d, nil
}
