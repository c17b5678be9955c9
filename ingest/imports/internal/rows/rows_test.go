package rows

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/anabranch/anabranch/internal/stablejson"
)

func gzipped(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// tree writes files below a directory of the test and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// all returns what files hold: for each row its number, line, and call or problem.
func all(t *testing.T, f *Files) (got []string, digest string) {
	t.Helper()
	digest, err := f.Each("", func(r *Row) error {
		got = append(got, fmt.Sprintf("%d:%d %s%s", r.Number, r.Line, r.Call, r.Problem))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, digest
}

func open(t *testing.T, name string, opts Options) *Files {
	t.Helper()
	f, err := Open(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFilesAreWhatTheyHold, whatever they are called.
func TestFilesAreWhatTheyHold(t *testing.T) {
	t.Parallel()
	const text = "\xef\xbb\xbf{\"a\":1}\r\n\n  \n{\"a\":2}\n{\"a\":3}"
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := tree(t, map[string]string{
		"plain.gz": text, "two-members.json": gzipped(t, text[:11]) + gzipped(t, text[11:]), "z": string(z.EncodeAll([]byte(text), nil)),
	})
	want := []string{`1:1 {"a":1}`, `2:4 {"a":2}`, `3:5 {"a":3}`}
	digests := make(map[string]bool)
	for _, name := range []string{"plain.gz", "two-members.json", "z"} {
		f := open(t, filepath.Join(dir, name), Options{})
		got, digest := all(t, f)
		if diff := cmp.Diff(want, got); diff != "" || f.Read() != f.Size {
			t.Errorf("%s: %d of %d bytes, (-want +got):\n%s", name, f.Read(), f.Size, diff)
		}
		if again, err := f.Digest(t.Context(), ""); again != digest || err != nil {
			t.Errorf("%s: digest %s, then %s, %v", name, digest, again, err)
		}
		digests[digest] = true
	}
	got, digest := all(t, open(t, Stdin, Options{Stdin: strings.NewReader(text)}))
	if diff := cmp.Diff(want, got); diff != "" || !digests[digest] || len(digests) != 3 {
		t.Errorf("standard input: digest %s of %v, (-want +got):\n%s", digest, digests, diff)
	}
	whole := open(t, dir, Options{})
	if got, _ := all(t, whole); len(got) != 9 || got[8] != `9:5 {"a":3}` {
		t.Errorf("the directory holds %q", got)
	}
	cut := filepath.Join(dir, "z2")
	if err := os.WriteFile(cut, []byte(gzipped(t, text)[:25]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, cut, Options{}).Each("", func(*Row) error { return nil }); err == nil || !strings.Contains(err.Error(), "z2: ") {
		t.Errorf("a file that was cut: %v", err)
	}
}

func TestWhatIsNoImport(t *testing.T) {
	t.Parallel()
	const object = "0-00000000000000000000-00000000000000000009.ndjson.gz"
	dir := tree(t, map[string]string{
		"s/segment-logs/a/1/x.gz": "", "s/segment-logs/b/1/x.gz": "", "empty/.hidden": "", "orders.csv": "a,b",
		"cold/.anabranch.json": "{}", "cold/app/2026-11-23/" + object: "", "cold/web/2026-11-23/" + object: "", "cold/web/2026-11-24/" + object: "",
	})
	if f, err := Open(filepath.Join(dir, "cold", "web"), Options{}); err != nil || f.Format != Archive {
		t.Errorf("an archive of one source: %v", err)
	}
	for name, want := range map[string]string{
		"cold":             "found the sources app and web in the archive, expected one",
		"s":                "found the sources a and b below segment-logs, expected one",
		"s/segment-logs/a": "",
		"empty":            "found no files",
		"nowhere":          "no such file",
		"orders.csv":       "expected --map FILE",
	} {
		f, err := Open(filepath.Join(dir, name), Options{})
		switch {
		case want == "" && (err != nil || f.Format != Segment):
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := Open(filepath.Join(dir, "orders.csv"), Options{Format: "xml"}); err == nil || !strings.Contains(err.Error(), "--format=xml: expected one of [ndjson archive segment rudder csv]") {
		t.Error(err)
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	text := `{"a":"` + strings.Repeat("x", 100_000) + "\"}\n" + strings.Repeat("y", maxLine+100_000) + "\n{}\n"
	var got []string
	_, err := open(t, Stdin, Options{Stdin: strings.NewReader(text)}).Each("", func(r *Row) error {
		got = append(got, fmt.Sprint(r.Line, " ", len(r.Text), " ", r.Problem))
		return nil
	})
	if diff := cmp.Diff([]string{"1 100008 ", "2 1024 expected at most 4194304 bytes", "3 2 "}, got); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}

// TestRudderRows: an event, an event in a job, a batch in a job, and what is none of them.
func TestRudderRows(t *testing.T) {
	t.Parallel()
	text := `{"type":"track","event":"A","payload":{"x":1}}
{"userId":"u","payload":{"type":"track","event":"B"},"createdAt":"2024-01-01T00:00:00Z","messageId":"m"}
{"userId":"u","payload":{"writeKey":"w","batch":[{"type":"page"}, {"type":"track","event":"C"}],"receivedAt":"2024-01-01T00:00:00Z"}}
{"batch":[]}
{"payload":"text"}
{"payload":{
`
	got, _ := all(t, open(t, Stdin, Options{Format: Rudder, Stdin: strings.NewReader(text)}))
	want := []string{
		`1:1 {"type":"track","event":"A","payload":{"x":1}}`, `2:2 {"type":"track","event":"B"}`, `3:3 {"type":"page"}`,
		`4:3 {"type":"track","event":"C"}`, `5:5 {"payload":"text"}`, `6:6 {"payload":{`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func mapping(tb testing.TB, text string) *Mapping {
	tb.Helper()
	m, err := ParseMapping("map.yaml", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestCSV(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mapping, text string
		want          []string
	}{
		"types, times and the rest": {
			mapping: "userId: email\nevent: \"=Order Completed\"\ntimestamp: {column: date, layout: 02.01.2006 15:04, zone: Europe/Berlin}\n" +
				"properties.revenue: {column: amount, type: number}\nproperties.gift: {column: gift, type: boolean}\nproperties.*: rest\n",
			text: "email,date,amount,gift,plan,note\na@x.com,24.12.2019 18:00,007.50,yes,pro,\"say \"\"hi\"\",\nthere\"\nb@x.com,01.07.2019 00:30,,no,,\n" +
				"c@x.com,soon,abc,yes,pro,\n d,01.07.2019 00:30,1\n\"x\"y,01.07.2019 00:30,1,no,,\n",
			want: []string{
				`1:2 {"type":"track","userId":"a@x.com","event":"Order Completed","timestamp":"2019-12-24T17:00:00.000Z","properties":{"revenue":7.5,"gift":true,"plan":"pro","note":"say \"hi\",\nthere"}}`,
				`2:4 {"type":"track","userId":"b@x.com","event":"Order Completed","timestamp":"2019-06-30T22:30:00.000Z","properties":{"gift":false}}`,
				`3:5 column date: found "soon", expected a time of the layout 02.01.2006 15:04`,
				`4:6 found 3 columns, expected 6`,
				`5:7 column 1: expected the separator behind the closing quote`,
			},
		},
		"without a header, by white space": {
			mapping: "separator: whitespace\nheader: false\ncolumns: [id, day, n]\nuserId: id\ntraits.n: {column: n, type: number}\ntimestamp: {column: day, layout: \"20060102\"}\n",
			text:    " 00001 19970101  1\n\n 00002 19970112  x\n",
			want:    []string{`1:1 {"type":"identify","userId":"00001","traits":{"n":1},"timestamp":"1997-01-01T00:00:00.000Z"}`, `2:3 column n: found "x", expected a number`},
		},
		"times as numbers, and of ISO": {
			mapping: "separator: tab\ntype: t\nuserId: u\ntimestamp: {column: at, layout: unix}\ncontext.seen: {column: ms, layout: unix_ms}\ncontext.iso: {column: iso, zone: America/New_York}\n",
			text:    "t\tu\tat\tms\tiso\npage\tu\t1500000000.5\t1500000000123\t2020-01-01 00:00:00\npage\tu\t1\t1\t2020-01-01T00:00:00Z\n",
			want: []string{
				`1:2 {"type":"page","userId":"u","timestamp":"2017-07-14T02:40:00.500Z","context":{"seen":"2017-07-14T02:40:00.123Z","iso":"2020-01-01T05:00:00.000Z"}}`,
				`2:3 {"type":"page","userId":"u","timestamp":"1970-01-01T00:00:01.000Z","context":{"seen":"1970-01-01T00:00:00.001Z","iso":"2020-01-01T00:00:00.000Z"}}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := all(t, open(t, Stdin, Options{Map: mapping(t, c.mapping), Stdin: strings.NewReader(c.text)}))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAQuoteThatIsNeverClosed costs what stands behind it, and no more memory than a row.
func TestAQuoteThatIsNeverClosed(t *testing.T) {
	t.Parallel()
	m := mapping(t, "userId: u\nevent: \"=A\"\n")
	got, _ := all(t, open(t, Stdin, Options{Map: m, Stdin: strings.NewReader("u\na\n\"b\nc\n")}))
	want := []string{`1:2 {"type":"track","userId":"a","event":"A"}`, `2:3 column 1: expected a closing quote before the end of the file`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := "u\n\"" + strings.Repeat(strings.Repeat("x", 1<<16)+"\n", maxLine>>16) + "last\n"
	got, _ = all(t, open(t, Stdin, Options{Map: m, Stdin: strings.NewReader(text)}))
	if len(got) != 2 || got[0] != "1:2 column 1: expected a closing quote within 4194304 bytes" || !strings.HasSuffix(got[1], `{"type":"track","userId":"last","event":"A"}`) {
		t.Errorf("%.200q", got)
	}
}

// TestExportsThatAreAmbiguous are refused as a whole, naming the file and what was expected:
// which of two columns is meant nobody can say, and what was taken for the header is none.
func TestExportsThatAreAmbiguous(t *testing.T) {
	t.Parallel()
	const usual = "userId: email\nevent: \"=A\"\nproperties.revenue: {column: amount, type: number}\nproperties.*: rest\n"
	for name, c := range map[string]struct{ mapping, text, want string }{
		"two columns of one name among the rest": {usual, "email,amount,plan,plan\n", `-: found the column "plan" twice, expected each name once: columns in the mapping can name them`},
		"two columns of one name that is mapped": {"userId: email\nevent: \"=A\"\n", "email,email\n", `-: found the column "email" twice`},
		"a column of the rest and a member":      {usual, "email,amount,revenue\n", `map.yaml:3: properties.revenue: expected another name: - has a column "revenue" too, which is one of the rest`},
		"another separator":                      {usual, "email;amount;plan\n", `-:1: header: found one column, "email;amount;plan", expected some separated by ",": see separator in the mapping`},
		"lines that end in CR":                   {usual, "email,amount\ra,1\rb,2\r", `-:1: header: found a carriage return within the line, expected lines that end in LF or CRLF`},
		"a header in Latin-1":                    {usual, "email,amount,gr\xf6\xdfe\n", `-:1: header: found the byte 0xf6 behind "email,amount,gr", expected UTF-8`},
		"names for other columns":                {usual + "columns: [email, amount]\n", "a,b,c\n", `-:1: header: found 3 columns, expected the 2 of the mapping`},
		"UTF-16":                                 {usual, "\xff\xfee\x00m\x00", `-: found UTF-16, expected text in UTF-8, plain or compressed with gzip or zstd`},
		"a workbook":                             {usual, "PK\x03\x04\x14\x00", `-: found a ZIP archive or an Excel workbook, expected text`},
		"gzip twice":                             {usual, gzipped(t, gzipped(t, "email,amount\n")), `-: found gzip within what is compressed already, expected text`},
	} {
		f := open(t, Stdin, Options{Map: mapping(t, c.mapping), Stdin: strings.NewReader(c.text)})
		_, err := f.Each("", func(*Row) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// TestColumnsWithoutANameOfTheirOwn: those of a name twice are given others, and one without
// a name is none of the rest.
func TestColumnsWithoutANameOfTheirOwn(t *testing.T) {
	t.Parallel()
	const text = ",email,plan,plan,\n0,a,x,y,z\n"
	for mapped, want := range map[string]string{
		"columns: [row, email, plan, next, last]\n": `{"row":"0","plan":"x","next":"y","last":"z"}`,
		"columns: [\"-\", email, a, b, c]\n":        `{"-":"0","a":"x","b":"y","c":"z"}`,
	} {
		m := mapping(t, "userId: email\nevent: \"=A\"\nproperties.*: rest\n"+mapped)
		got, _ := all(t, open(t, Stdin, Options{Map: m, Stdin: strings.NewReader(text)}))
		if len(got) != 1 || got[0] != `1:2 {"type":"track","userId":"a","event":"A","properties":`+want+`}` {
			t.Errorf("%s: %q", mapped, got)
		}
	}
	m := mapping(t, "userId: email\nevent: \"=A\"\nproperties.*: rest\n")
	got, _ := all(t, open(t, Stdin, Options{Map: m, Stdin: strings.NewReader(",email,plan,,\n0,a,x,,z\n")}))
	if len(got) != 1 || got[0] != `1:2 {"type":"track","userId":"a","event":"A","properties":{"plan":"x"}}` {
		t.Errorf("unnamed: %q", got)
	}
}

// TestWhatIsNotUTF8: a row in another encoding is refused, as its bytes would be others.
func TestWhatIsNotUTF8(t *testing.T) {
	t.Parallel()
	m := mapping(t, "userId: u\nevent: \"=A\"\n")
	got, _ := all(t, open(t, Stdin, Options{Map: m, Stdin: strings.NewReader("u\nm\xfcller\nmüller\n")}))
	want := []string{`1:2 found the byte 0xfc behind "m", expected UTF-8`, `2:3 {"type":"track","userId":"müller","event":"A"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, _ = all(t, open(t, Stdin, Options{Stdin: strings.NewReader("{\"a\":\"\xc3\xc3\xa4\"}\n{\"a\":\"ä\"}\n")}))
	want = []string{`1:1 found the byte 0xc3 behind "{\"a\":\"", expected UTF-8`, `2:2 {"a":"ä"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistakesInAMapping(t *testing.T) {
	t.Parallel()
	_, err := ParseMapping("map.yaml", []byte(`separator: "::"
header: maybe
userid: email
userId: [a]
properties: x
event.name: x
properties.*: all
properties.a.b: c
properties.a: d
timestamp: {colum: x, layout: "YYYY-MM-DD", zone: Berlin}
traits.n: {column: n, type: numbr}
type: "=trak"
`))
	const want = `map.yaml:1: separator: "::": expected one of ",", ";", "|", tab, whitespace
map.yaml:2: header: "maybe": expected true or false
map.yaml:3: userid: expected separator, header, columns, or a member of a call: userId
map.yaml:4: userId: a list: expected the name of a column, a constant such as "=Order Completed", or {column: NAME, type: number}
map.yaml:5: properties: expected a member of it, such as properties.plan, or properties.*
map.yaml:6: event.name: expected a member of a call without a point in its name
map.yaml:7: properties.*: "all": expected rest: all columns that no other member has
map.yaml:9: properties.a: expected a column or members below it, found both
map.yaml:10: timestamp.colum: expected column
map.yaml:10: timestamp.layout: "YYYY-MM-DD": expected iso, unix, unix_ms or a Go layout, which is how it writes the 2nd of January 2006, 15:04:05, such as "02.01.2006 15:04"
map.yaml:10: timestamp.zone: "Berlin": expected a time zone such as Europe/Berlin
map.yaml:10: timestamp.column: expected the name of a column
map.yaml:11: traits.n.type: "numbr": expected one of text, number, boolean
map.yaml:12: type: "=trak": expected the type of a call: track`
	if err == nil || err.Error() != want {
		t.Errorf("found\n%v\nwant\n%s", err, want)
	}
	for text, want := range map[string]string{
		"":                                    "map.yaml:1: expected a mapping of members to columns",
		"userId: u\nheader: false":            "columns: expected the names of all columns",
		"userId: u":                           `type: expected a constant such as "=track"`,
		"userId: u\nuserId: v\nevent: e":      "map.yaml:2: userId: expected each key once",
		"a: [":                                "map.yaml: line 1",
		"userId: {column: u\n":                "map.yaml: line",
		"columns: [a, a]\nevent: a\n":         "columns[1]: \"a\": expected a name that no other column has",
		"event: e\nproperties.: x\nname: n\n": "map.yaml:2: properties.: expected a member of it",
	} {
		if _, err = ParseMapping("map.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	f := open(t, Stdin, Options{Map: mapping(t, "event: e\nuserId: emial\n"), Stdin: strings.NewReader("email,e\na,b\n")})
	_, err = f.Each("", func(*Row) error { return nil })
	if err == nil || err.Error() != `map.yaml:2: userId: "emial": expected a column of -: email` {
		t.Error(err)
	}
}

// FuzzRows: whatever the bytes are, rows are bounded, have increasing numbers and lines,
// and what is handed out as a call of CSV or of RudderStack's envelopes is JSON.
func FuzzRows(f *testing.F) {
	f.Add("ndjson", []byte("{}\n{\"a\":1}\n"))
	f.Add("rudder", []byte(`{"payload":{"batch":[{"a":[1,2]},3]}}`))
	f.Add("csv", []byte("a,b\n\"x\",\"y\n\"\n1,2\n"))
	f.Add("csv", []byte("\"\"\"\n\"\"\"\","))
	f.Add("segment", []byte(gzipped(f, "{}\n")))
	m := mapping(f, "event: a\nproperties.*: rest\n")
	stop := errors.New("enough")
	f.Fuzz(func(t *testing.T, format string, text []byte) {
		opts := Options{Format: Format(format), Stdin: bytes.NewReader(text)}
		if opts.Format == CSV {
			opts.Map = m
		}
		files, err := Open(Stdin, opts)
		if err != nil {
			return
		}
		row, line := int64(0), 0
		_, _ = files.Each("", func(r *Row) error {
			if r.Number != row+1 || r.Line < line || len(r.Text) > maxLine || (r.Problem == "") == (r.Call == nil) {
				t.Fatalf("row %d behind %d, line %d behind %d, %q %q", r.Number, row, r.Line, line, r.Call, r.Problem)
			}
			row, line = r.Number, r.Line
			if row > 10_000 {
				return stop
			}
			return nil
		})
	})
}

// FuzzTable: what the library takes for separated values by the letter of RFC 4180 has the
// same cells here.
func FuzzTable(f *testing.F) {
	f.Add("a,b\n1,\"2,\"\"\n\"\"\"\n\n,\n")
	f.Add("\"\",\r\n\"a\r\nb\",c")
	f.Fuzz(func(t *testing.T, text string) {
		theirs := csv.NewReader(strings.NewReader(text))
		theirs.FieldsPerRecord = -1
		want, err := theirs.ReadAll()
		// A line of white space is a record there, and nothing here; a mark of the byte order
		// is a part of the first cell there.
		want = slices.DeleteFunc(want, func(cells []string) bool { return len(cells) == 1 && strings.TrimSpace(cells[0]) == "" })
		if err != nil || strings.HasPrefix(text, "\xef\xbb\xbf") || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
			return
		}
		ours := table{in: newLines(strings.NewReader(text)), separator: ","}
		var got [][]string
		for ours.next() == nil {
			if ours.problem != "" {
				t.Fatalf("%q: %s", text, ours.problem)
			}
			got = append(got, slices.Clone(ours.cells))
		}
		got = slices.DeleteFunc(got, func(cells []string) bool { return len(cells) == 1 && strings.TrimSpace(cells[0]) == "" })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", text, diff)
		}
	})
}

// FuzzMapping: what is accepted makes calls of any record.
func FuzzMapping(f *testing.F) {
	f.Add("userId: a\nevent: \"=B\"\nproperties.x.y: {column: b, type: number}\nproperties.*: rest\n", "1")
	f.Add("type: a\ntimestamp: {column: b, layout: unix, zone: UTC}\n", "1e300")
	f.Fuzz(func(t *testing.T, text, value string) {
		m, err := ParseMapping("map.yaml", []byte(text))
		if err != nil {
			return
		}
		k, err := m.over([]string{"a", "b"}, "x.csv")
		if err != nil {
			return
		}
		if call, problem := k.call([]string{value, value}); problem == "" && !valid(call) {
			t.Fatalf("%q makes %q", text, call)
		}
	})
}

func valid(call []byte) bool {
	_, err := stablejson.Append(nil, call)
	return err == nil
}
