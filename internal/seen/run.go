package seen

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A run is what a range of offsets holds, of one bucket: fingerprints in order, each
// once. Its file is
//
//	pages    each of 255 fingerprints and a trailer: how many there are, the page's number,
//	         and a checksum of all before it
//	index    the first half of each page's first fingerprint, and the filters
//	footer   what is in the file, the index's checksum, and its own
//
// The index is in memory; a page is read when a filter has it that a fingerprint may be
// there, which it wrongly has of one in 256.
const (
	pageBytes   = 4096
	perPage     = pageBytes/Bytes - 1
	fenceBytes  = 8
	footerBytes = 88
	magic       = "seenrun3"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errCorrupt is about a file that is not as it was written.
var errCorrupt = errors.New("file is damaged")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errCorrupt, fmt.Sprintf(format, args...))
}

// Identity is what fingerprints are about; those of another are of no use.
type Identity [Bytes]byte

// extent is the part of a partition that a run, or a log, is about.
type extent struct {
	from, to int64 // offsets, to excluded
	bucket   int64
	after    int64 // the bucket of what came before; nothing: the set begins here
}

// nothing is the bucket of what is before the beginning of a set.
const nothing = -1

// run is an open one.
type run struct {
	extent
	count   int
	of      Identity
	fences  []uint64
	filters filters
	pages   io.ReaderAt
	file    *file // nil: it is in memory, since it could not be written
	log     *file // of the generation, while the run is in memory
}

// has reports whether a fingerprint is in the run.
func (r *run) has(fp Fingerprint) (bool, error) {
	if !r.filters.may(fp) {
		return false, nil
	}
	var buffer [pageBytes]byte
	for num := r.first(fp); num < len(r.fences) && r.fences[num] <= fp.hi; num++ {
		page, err := r.page(num, buffer[:])
		if err != nil {
			return false, err
		}
		if pageHas(page, fp) {
			return true, nil
		}
	}
	return false, nil
}

// first is the first page that may have a fingerprint: the last one that begins before
// it, since several may begin with an equal half.
func (r *run) first(fp Fingerprint) int {
	num, _ := slices.BinarySearch(r.fences, fp.hi)
	return max(num-1, 0)
}

// page reads the bytes of the fingerprints of a page.
func (r *run) page(num int, buffer []byte) ([]byte, error) {
	if _, err := r.pages.ReadAt(buffer, int64(num)*pageBytes); err != nil {
		return nil, fmt.Errorf("read page %d of %d: %w", num, len(r.fences), err)
	}
	return openPage(buffer, num)
}

func openPage(page []byte, num int) ([]byte, error) {
	trailer := page[pageBytes-Bytes:]
	n := int(binary.BigEndian.Uint32(trailer))
	switch {
	case binary.BigEndian.Uint32(trailer[12:]) != crc32.Checksum(page[:pageBytes-4], castagnoli):
		return nil, corrupt("checksum of page %d", num)
	case binary.BigEndian.Uint64(trailer[4:]) != uint64(num), n < 1, n > perPage:
		return nil, corrupt("page %d with %d fingerprints is not page %d", binary.BigEndian.Uint64(trailer[4:]), n, num)
	}
	return page[:n*Bytes], nil
}

func pageHas(page []byte, fp Fingerprint) bool {
	low, high := 0, len(page)/Bytes
	for low < high {
		mid := int(uint(low+high) >> 1)
		switch c := compare(at(page[mid*Bytes:]), fp); {
		case c == 0:
			return true
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return false
}

// writeRun writes a run of at most so many fingerprints, which come in order, each once, and
// returns it as it is open but for its pages.
func writeRun(to io.Writer, of Identity, ext extent, most int, next stream) (*run, error) {
	r := &run{extent: ext, of: of}
	w := bufio.NewWriterSize(to, 64<<10)
	page := make([]byte, 0, pageBytes)
	making := newMaking(most)
	var err error
	for {
		fp, more, unread := next()
		if unread != nil {
			return nil, unread
		}
		if n := len(page) / Bytes; n == perPage || n > 0 && !more {
			if _, err = w.Write(closePage(page, len(r.fences)-1)); err != nil {
				return nil, err
			}
			page = page[:0]
		}
		if !more {
			break
		}
		if len(page) == 0 {
			r.fences = append(r.fences, fp.hi)
		}
		page = Append(page, fp)
		if err = making.add(fp); err != nil {
			return nil, err
		}
		r.count++
	}
	if r.filters, err = making.end(); err != nil {
		return nil, err
	}
	if _, err = w.Write(r.tail()); err != nil {
		return nil, err
	}
	return r, w.Flush()
}

func closePage(page []byte, num int) []byte {
	n := len(page) / Bytes
	page = page[:pageBytes]
	clear(page[n*Bytes:])
	trailer := page[pageBytes-Bytes:]
	binary.BigEndian.PutUint32(trailer, uint32(n))
	binary.BigEndian.PutUint64(trailer[4:], uint64(num))
	binary.BigEndian.PutUint32(trailer[12:], crc32.Checksum(page[:pageBytes-4], castagnoli))
	return page
}

// tail is what follows the pages.
func (r *run) tail() []byte {
	b := make([]byte, 0, len(r.fences)*fenceBytes+r.filters.bytes()+footerBytes)
	for _, fence := range r.fences {
		b = binary.BigEndian.AppendUint64(b, fence)
	}
	b = r.filters.append(b)
	index := crc32.Checksum(b, castagnoli)
	footer := len(b)
	b = append(b, magic...)
	b = append(b, r.of[:]...)
	for _, n := range []uint64{
		uint64(r.from), uint64(r.to), uint64(r.bucket), uint64(r.after), uint64(r.count), uint64(len(r.fences)),
		uint64(footer - len(r.fences)*fenceBytes),
	} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = binary.BigEndian.AppendUint32(b, index)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[footer:], castagnoli))
}

// openRun reads what a file of so many bytes has beside its pages.
func openRun(file io.ReaderAt, size int64) (*run, error) {
	if size < footerBytes {
		return nil, corrupt("%d bytes are too few", size)
	}
	footer := make([]byte, footerBytes)
	if _, err := file.ReadAt(footer, size-footerBytes); err != nil {
		return nil, fmt.Errorf("read the footer: %w", err)
	}
	if string(footer[:len(magic)]) != magic {
		return nil, corrupt("it does not end like a run")
	}
	if crc32.Checksum(footer[:footerBytes-4], castagnoli) != binary.BigEndian.Uint32(footer[footerBytes-4:]) {
		return nil, corrupt("checksum of the footer")
	}
	r := &run{pages: file, of: Identity(footer[len(magic):])}
	var n [7]uint64
	for i := range n {
		n[i] = binary.BigEndian.Uint64(footer[len(magic)+Bytes+8*i:])
	}
	r.extent, r.count = extent{int64(n[0]), int64(n[1]), int64(n[2]), int64(n[3])}, int(n[4])
	pages, filterBytes := n[5], n[6]
	const most = 1 << 40
	if n[4] > most || pages > most || filterBytes > most || pages != (n[4]+perPage-1)/perPage ||
		pages*(pageBytes+fenceBytes)+filterBytes+footerBytes != uint64(size) || r.from > r.to {
		return nil, corrupt("%d bytes with %d fingerprints, %d pages, filters of %d bytes", size, n[4], pages, filterBytes)
	}
	index := make([]byte, pages*fenceBytes+filterBytes)
	if _, err := file.ReadAt(index, int64(pages*pageBytes)); err != nil && len(index) > 0 {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	if crc32.Checksum(index, castagnoli) != binary.BigEndian.Uint32(footer[footerBytes-8:]) {
		return nil, corrupt("checksum of the index")
	}
	return r, r.index(index, int(pages))
}

// index takes the index up as it was read.
func (r *run) index(b []byte, pages int) (err error) {
	r.fences = make([]uint64, pages)
	for i := range r.fences {
		r.fences[i] = binary.BigEndian.Uint64(b[i*fenceBytes:])
	}
	if !slices.IsSorted(r.fences) {
		return corrupt("pages out of order")
	}
	r.filters, err = parseFilters(b[pages*fenceBytes:], r.fences)
	return err
}
