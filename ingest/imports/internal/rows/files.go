package rows

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/anabranch/anabranch/schemas"
)

// Stdin names what a process is given to read.
const Stdin = "-"

// maxWindow bounds what zstd has to remember of a file, in bytes: `zstd --long` asks for
// more than an import may take.
const maxWindow = 32 << 20

// Options say what files mean.
type Options struct {
	Format Format   // "": as the files look
	Map    *Mapping // of CSV
	Stdin  io.Reader
}

// Files are what is imported: one file, standard input, or all files below a directory in
// the order of their paths.
type Files struct {
	Name   string
	Format Format
	Size   int64 // bytes, as they are stored; 0: not known
	mapped *Mapping
	stdin  io.Reader
	parts  []part
	read   int64
	ahead  func() int // bytes that were read, and that no row was made of yet
}

// part is one file. name is its path below the directory; "" of a file alone, which may
// be renamed and is the same import.
type part struct{ path, name string }

// Open finds the files of an import. Nothing is read of them yet.
func Open(name string, opts Options) (*Files, error) {
	f := &Files{Name: name, Format: opts.Format, mapped: opts.Map, stdin: opts.Stdin}
	if name == Stdin {
		f.parts = []part{{path: Stdin}}
		return f, f.decide()
	}
	f.Name = filepath.Clean(name)
	info, err := os.Stat(f.Name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		err = f.walk()
	default:
		f.parts, f.Size = []part{{path: f.Name}}, info.Size()
	}
	if err != nil {
		return nil, err
	}
	return f, f.decide()
}

func (f *Files) walk() error {
	err := filepath.WalkDir(f.Name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && path != f.Name:
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.Name, path)
		f.parts, f.Size = append(f.parts, part{path, filepath.ToSlash(name)}), f.Size+info.Size()
		return err
	})
	if err == nil && len(f.parts) == 0 {
		err = fmt.Errorf("%s: found no files, expected those of an archive", f.Name)
	}
	return err
}

// Read returns how many bytes of Size the rows make up that were handed out in the last
// pass, or nearly so where they are compressed. It is for who takes them.
func (f *Files) Read() int64 { return f.read - int64(f.ahead()) }

// Digest reads all files and returns what they, and what they mean, have as a digest: two
// imports with the same one are the same rows. salt is what else belongs to that. The error
// is of a file that can't be read to its end, or that is not what the options say.
func (f *Files) Digest(ctx context.Context, salt string) (string, error) {
	return f.Each(salt, func(*Row) error { return context.Cause(ctx) })
}

// Each hands out all rows, of which none may be kept, and returns the digest. An error of
// each ends it.
func (f *Files) Each(salt string, each func(*Row) error) (digest string, err error) {
	var row Row
	return f.pass(salt, func(p part, raw io.Reader) error {
		row.File = p.path
		stored := bufio.NewReaderSize(raw, 128<<10)
		text, done, err := inflate(stored)
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		defer done()
		// Lines of a file that is not compressed are read from this very buffer.
		f.ahead = stored.Buffered
		in := newLines(text)
		if other := in.other(); other != "" {
			return fmt.Errorf("%s: found %s, expected text in UTF-8, plain or compressed with gzip or zstd", p.path, other)
		}
		return f.rows(in, &row, each)
	})
}

// pass opens one file after the other and returns the digest of all.
func (f *Files) pass(salt string, do func(part, io.Reader) error) (string, error) {
	f.read, f.ahead = 0, func() int { return 0 }
	all := sha256.New()
	_, _ = fmt.Fprintf(all, "1\x00%s\x00%s\x00", f.Format, salt)
	if f.mapped != nil {
		_, _ = fmt.Fprintf(all, "%x", sha256.Sum256(f.mapped.text))
	}
	for _, p := range f.parts {
		sum, err := f.one(p, do)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(all, "\x00%s\x00%x", p.name, sum)
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

func (f *Files) one(p part, do func(part, io.Reader) error) ([]byte, error) {
	raw := f.stdin
	if p.path != Stdin {
		file, err := os.Open(p.path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		raw = file
	}
	m := &measured{raw: raw, sum: sha256.New(), read: &f.read}
	if err := do(p, m); err != nil {
		return nil, err
	}
	// What stands behind the end of a compressed stream belongs to the digest too.
	if _, err := io.Copy(io.Discard, m); err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	return m.sum.Sum(nil), nil
}

// measured counts what is read, and takes its digest.
type measured struct {
	raw  io.Reader
	sum  hash.Hash
	read *int64
}

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.raw.Read(p)
	_, _ = m.sum.Write(p[:n])
	*m.read += int64(n)
	return n, err
}

const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// others are files that hold no text, by their first bytes.
var others = []struct{ begins, are string }{
	{gzipMagic, "gzip within what is compressed already"},
	{zstdMagic, "zstd within what is compressed already"},
	{"PK\x03\x04", "a ZIP archive or an Excel workbook"},
	{"BZh91AY&SY", "bzip2"},
	{"\xfd7zXZ\x00", "xz"},
	{"PAR1\x15", "Parquet"},
	{"\xff\xfe", "UTF-16"},
	{"\xfe\xff", "UTF-16"},
}

// other says what a file is instead of text; empty: text, as far as its beginning tells.
func (l *lines) other() string {
	begins, _ := l.in.Peek(len("BZh91AY&SY")) // an error is for who reads on
	for _, o := range others {
		if strings.HasPrefix(string(begins), o.begins) {
			return o.are
		}
	}
	return ""
}

// inflate returns the text of a file, whichever way it is compressed.
func inflate(in *bufio.Reader) (text io.Reader, done func(), err error) {
	begins, err := in.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch {
	case strings.HasPrefix(string(begins), gzipMagic):
		z, err := gzip.NewReader(in)
		return z, func() {}, err
	case string(begins) == zstdMagic:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return in, func() {}, nil
}

// decide settles the format where nobody has said it, and what does not go with it.
func (f *Files) decide() error {
	if f.Format == "" {
		f.Format = f.looksLike()
	}
	switch {
	case !slices.Contains(Formats(), f.Format):
		return fmt.Errorf("--format=%s: expected one of %v", f.Format, Formats())
	case f.Format == CSV && f.mapped == nil:
		return fmt.Errorf("%s: expected --map FILE, which says what the columns of CSV become", f.Name)
	case f.Format != CSV && f.mapped != nil:
		return fmt.Errorf("--map is for csv, found --format=%s", f.Format)
	case f.Format == Segment:
		return f.oneSource(segmentSource, "below "+segmentLogs)
	case f.Format == Archive:
		return f.oneSource(archiveSource, "in the archive")
	}
	return nil
}

func (f *Files) looksLike() Format {
	if f.mapped != nil {
		return CSV
	}
	for _, p := range f.parts {
		name := strings.TrimSuffix(strings.TrimSuffix(p.path, ".gz"), ".zst")
		switch ext := filepath.Ext(name); {
		case ext == ".csv" || ext == ".tsv":
			return CSV
		case archiveSource(p.path) != "":
			return Archive
		case slices.Contains(strings.Split(filepath.ToSlash(p.path), "/"), segmentLogs):
			return Segment
		}
	}
	return NDJSON
}

// segmentLogs is the directory of Segment's archives: segment-logs/{source}/{day}/*.gz.
const segmentLogs = "segment-logs"

// segmentSource is the source that a file of Segment's is of; empty: its path does not say.
func segmentSource(path string) string {
	steps := strings.Split(filepath.ToSlash(path), "/")
	at := slices.Index(steps, segmentLogs)
	if at < 0 || at+2 >= len(steps) {
		return ""
	}
	return steps[at+1]
}

// archiveSource is the source that an object of an archive of ours is of; empty: it is none,
// by its path.
func archiveSource(path string) string {
	path, err := filepath.Abs(path) // somebody may be below the directory of the source
	if err != nil {
		return ""
	}
	name, _ := schemas.ParseArchivedName(filepath.ToSlash(path))
	return name.Source
}

// oneSource refuses an archive of several sources: all of it goes to one of ours.
func (f *Files) oneSource(of func(path string) string, where string) error {
	var found []string
	for _, p := range f.parts {
		source := of(p.path)
		if source == "" || slices.Contains(found, source) {
			continue
		}
		if found = append(found, source); len(found) > 1 {
			return fmt.Errorf("%s: found the sources %s %s, expected one: name the directory of one",
				f.Name, strings.Join(found, " and "), where)
		}
	}
	return nil
}
