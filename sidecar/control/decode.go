package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// body reads the request's JSON into v, a pointer to a struct; false: it has
// answered. A struct of package config is read by its yaml names, so that a
// route is written the same in the file and here.
func (s *Server) body(w http.ResponseWriter, r *http.Request, v any) bool {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		problem(w, http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Type %q is not possible: allowed application/json.", clip(r.Header.Get("Content-Type"))))
		return false
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		problem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is larger than %d bytes, the most that is read.", large.Limit))
		return false
	}
	if err != nil {
		problem(w, http.StatusBadRequest, "The body did not come to its end: "+err.Error())
		return false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var in any
	if err := d.Decode(&in); err != nil {
		problem(w, http.StatusBadRequest, fmt.Sprintf("The body is not JSON, at byte %d: %v.", d.InputOffset(), err))
		return false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		problem(w, http.StatusBadRequest, fmt.Sprintf("After the JSON value something follows at byte %d: send one object.", d.InputOffset()))
		return false
	}
	if err := assign(reflect.ValueOf(v).Elem(), in, ""); err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
		return false
	}
	return true
}

var durationType = reflect.TypeFor[time.Duration]()

// assign sets v to a decoded JSON value. at names the place for people. The
// values of text are not repeated in errors: they may be passphrases.
func assign(v reflect.Value, in any, at string) error {
	if in == nil {
		return nil // null: as if it were not there
	}
	if v.Type() == durationType {
		return assignDuration(v, in, at)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return assign(v.Elem(), in, at)
	case reflect.Struct:
		return assignStruct(v, in, at)
	case reflect.Slice:
		list, ok := in.([]any)
		if !ok {
			return wrong(at, in, "a list: [...]")
		}
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		for i, e := range list {
			if err := assign(v.Index(i), e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.String:
		text, ok := in.(string)
		if !ok {
			return wrong(at, in, `text: "..."`)
		}
		v.SetString(text)
		return nil
	case reflect.Int:
		n, ok := in.(json.Number)
		i, err := n.Int64()
		if !ok || err != nil || v.OverflowInt(i) {
			return wrong(at, in, "a whole number")
		}
		v.SetInt(i)
		return nil
	}
	return fmt.Errorf("%s: %s cannot be set here", at, v.Type())
}

func assignStruct(v reflect.Value, in any, at string) error {
	object, ok := in.(map[string]any)
	if !ok {
		return wrong(at, in, "an object: {...}")
	}
	fields := map[string]reflect.Value{}
	var names []string
	for f := range v.Type().Fields() {
		name := keyOf(f)
		fields[name] = v.FieldByIndex(f.Index)
		names = append(names, name)
	}
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys) // the same error every time
	for _, k := range keys {
		f, ok := fields[k]
		if !ok {
			return fmt.Errorf("%s is not known: allowed are %s", clip(join(at, k)), strings.Join(names, ", "))
		}
		if err := assign(f, object[k], join(at, k)); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the name of a field in JSON.
func keyOf(f reflect.StructField) string {
	for _, tag := range []string{"yaml", "json"} {
		if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" {
			return name
		}
	}
	return strings.ToLower(f.Name)
}

func assignDuration(v reflect.Value, in any, at string) error {
	text, ok := in.(string)
	if !ok {
		return wrong(at, in, `a time with a unit, as text: "1s", "250ms"`)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%s: %q is not a time: allowed is a number with a unit, such as 1s or 250ms", at, clip(text))
	}
	v.SetInt(int64(d))
	return nil
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// wrong says what was found and what is wanted instead.
func wrong(at string, in any, want string) error {
	if at == "" {
		at = "the body"
	}
	found := "an object"
	switch n := in.(type) {
	case string:
		found = "text"
	case json.Number:
		found = clip(n.String())
	case bool:
		found = fmt.Sprint(n)
	case []any:
		found = "a list"
	}
	return fmt.Errorf("%s is %s: allowed is %s", at, found, want)
}
