package definition

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// JSON returns the audience in the grammar of the file. Equal audiences give equal bytes.
func (a *Audience) JSON() []byte {
	m := a.members()
	m["when"], m["on_delete"] = a.When.written(), a.OnDelete
	putDuration(m, "stay", a.AtMostEvery)
	return written(m)
}

// JSON is that of [Audience.JSON].
func (t *Trait) JSON() []byte {
	m := t.members()
	m["take"] = t.Take
	if t.Of != nil {
		m["of"] = t.Of.String()
	}
	t.Event.write(m)
	if t.Take == MostFrequent {
		m["at_least"] = t.AtLeast
	}
	if t.Take == Unique || t.MaxValues != 0 && t.MaxValues != MaxValues { // earlier releases wrote none of a UniqueCount
		m["max_values"] = t.MaxValues
	}
	putDuration(m, "every", t.AtMostEvery)
	return written(m)
}

// written is JSON with its members by name. It leaves <, > and & as they are.
func written(m object) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		panic("definition: " + err.Error()) // strings, finite numbers, lists and maps of those
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (c *Common) members() object {
	m := object{"id": c.ID, "name": c.Name, "enabled": c.Enabled, "history": c.History.String(), "send": c.Send}
	if c.Anonymous {
		m["anonymous"] = true
	}
	if len(c.Destinations) > 0 {
		m["destinations"] = c.Destinations
	}
	return m
}

// String is full, none or a duration.
func (h History) String() string {
	switch {
	case h.Full:
		return "full"
	case h.For > 0:
		return FormatDuration(h.For)
	default:
		return "none"
	}
}

func (c *Cond) written() object {
	list := func(conds []Cond) []object {
		all := make([]object, len(conds))
		for i := range conds {
			all[i] = conds[i].written()
		}
		return all
	}
	switch {
	case c.All != nil:
		return object{"all": list(c.All)}
	case c.Any != nil:
		return object{"any": list(c.Any)}
	case c.Not != nil:
		return object{"not": c.Not.written()}
	case c.Leaf != nil:
		return c.Leaf.written()
	}
	return nil
}

func (l *Leaf) written() object {
	m := make(object)
	switch {
	case l.Did != nil:
		l.Did.write(m)
		return m
	case l.Audience != "":
		return object{"audience": l.Audience}
	case l.Trait != nil:
		m["trait"] = l.Trait.String()
	case l.Computed != "":
		m["computed"] = l.Computed
	default:
		m["profile"] = l.Profile
	}
	m["is"] = l.Is.written()
	return m
}

func (d *Did) write(m object) {
	d.Event.write(m)
	if d.Take == Count {
		m["times"] = d.Is.written()
		return
	}
	m["take"], m["of"], m["is"] = d.Take, d.Of.String(), d.Is.written()
}

func (e *Event) write(m object) {
	switch {
	case e.Type == Track:
		m["did"] = e.Name
	case e.AnyName:
		m["did"] = object{string(e.Type): "*"}
	default:
		m["did"] = object{string(e.Type): e.Name}
	}
	if len(e.Where) > 0 {
		m["where"] = writtenWhere(e.Where)
	}
	e.Window.write(m)
	if len(e.Sources) > 0 {
		m["sources"] = e.Sources
	}
	if len(e.ExceptSources) > 0 {
		m["except_sources"] = e.ExceptSources
	}
}

func writtenWhere(where [][]Pred) any {
	alternatives := make([]object, len(where))
	for i, preds := range where {
		alternatives[i] = make(object, len(preds))
		for _, p := range preds {
			alternatives[i][p.Path.String()] = p.Test.written()
		}
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return alternatives
}

func (w *Window) write(m object) {
	switch w.Kind {
	case AllTime:
	case Within:
		putDuration(m, "within", w.Far)
	case Between:
		m["between"] = []string{FormatDuration(w.Far), FormatDuration(w.Near)}
	case Since:
		m["since"] = formatTime(w.Since)
		if !w.Until.IsZero() {
			m["until"] = formatTime(w.Until)
		}
	}
}

func (t Test) written() object {
	m := make(object, len(t))
	for i := range t {
		m[string(t[i].Op)] = t[i].written()
	}
	return m
}

func (o *Operation) written() any {
	switch o.Op {
	case In, NotIn:
		values := make([]any, len(o.Values))
		for i, v := range o.Values {
			values[i] = v.written()
		}
		return values
	case Before, After:
		return formatTime(o.At)
	case WithinLast, BeforeLast, WithinNext, AfterNext:
		return FormatDuration(o.For)
	default:
		return o.Values[0].written()
	}
}

func (v Value) written() any {
	switch v.Kind {
	case Text:
		return v.Text
	case Number:
		return json.Number(strconv.FormatFloat(v.Number, 'g', -1, 64))
	case Bool:
		return v.Bool
	case Null:
	}
	return nil
}

// putDuration leaves out what is none.
func putDuration(m object, key string, d time.Duration) {
	if d != 0 {
		m[key] = FormatDuration(d)
	}
}
