package consoletest

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "draw the pictures of the documents into a `directory`, such as ../../docs/images")

// TestPictures draws those of the documents, where that is asked for.
func TestPictures(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no -screenshots")
	}
	s := openShop(t)
	b := s.open(t)
	b.enter("ada")
	b.visit("/console/workspace/plan")
	b.upload(shopWorkspace(s.receiver.URL))
	b.wait(planned)
	b.apply()
	order, buyer := s.business(b)

	b.come("/console/", `/enabled\s+0\s/.test(document.querySelector("#d-crm").closest("tr").innerText)`)
	b.draw("overview", "light", ".pipeline")
	b.draw("overview-dark", "dark", ".pipeline")
	b.come(fmt.Sprintf("/console/event?id=order-%d&user=%s", order, buyer), `document.querySelectorAll(".good").length === 2 && document.querySelector(".open")`)
	b.draw("event", "light", "main")
	b.come("/console/destination?id=mail", `document.querySelector("details")`)
	eval[bool](b, `document.querySelector("details").open = true`)
	b.draw("destination", "light", "details ~ details ~ details")
	b.come("/console/explain?key=big_spenders&user="+buyer, `document.querySelector("main").innerText.includes(" is in ")`)
	b.draw("explain", "light", "main")

	b.visit("/console/live")
	b.wait(following)
	_, err := s.trade(order)
	b.call("trade", err)
	b.wait(`document.querySelectorAll("#live-rows tr").length > 40`)
	b.draw("live", "light", "#live-rows tr:nth-child(16)")
}

// business is two rounds of trade, one before mail fails and one while it does. It returns the
// number of an order that mail has not got, and who has made it.
func (s *shop) business(b *tab) (order int, buyer string) {
	b.Helper()
	number, err := s.trade(2080)
	if err == nil {
		number++
		err = s.order(number, customers[1], nil)
	}
	b.call("trade", err)
	b.come("/console/dead-letters?destination=mail", fmt.Sprintf(`document.querySelectorAll("tbody tr").length >= %d`, number-2080))
	s.outage.Store(true)
	number, err = s.trade(number)
	b.call("trade", err)
	number++
	b.call("order", s.order(number, customers[0], 74.90))
	return number, customers[0].id
}

// come visits a page until it has its answer, and an expression is true of it.
func (b *tab) come(address, ready string) {
	b.Helper()
	until(b.T, address+" to have all of its picture", func() bool {
		b.visit(address)
		return eval[bool](b, `!document.querySelector(".asking") && !!(`+ready+`)`)
	})
}

// draw makes a picture of the page that is shown, down to an element.
func (b *tab) draw(name, scheme, last string) {
	b.Helper()
	const width, below, scale = 1200, 16, 1.5
	b.scheme(scheme)
	order(b, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
	b.width(width)
	height := below + eval[int64](b, fmt.Sprintf(`Math.ceil(document.querySelector(%q).getBoundingClientRect().bottom)`, last))
	b.do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	b.call("draw", err)
	small, err := fewer(picture)
	b.call("draw", err)
	b.call("draw", os.MkdirAll(*screenshots, 0o755))
	b.call("draw", os.WriteFile(filepath.Join(*screenshots, "console-"+name+".png"), small, 0o644))
}

// fewer is a picture with as few colours as one byte tells apart: a third of its size, and
// nobody misses them.
func fewer(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	for bits := 7; ; bits-- {
		few, enough := rounded(full, bits)
		if !enough {
			continue
		}
		var small bytes.Buffer
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, few)
		return small.Bytes(), err
	}
}

// rounded is a picture whose colours are the same when their first bits are: the one that comes
// first, which is that of a ground, stays as it is. False: they are more than a palette has.
func rounded(full image.Image, bits int) (*image.Paletted, bool) {
	few := image.NewPaletted(full.Bounds(), nil)
	known := make(map[[3]uint32]uint8)
	for y := few.Rect.Min.Y; y < few.Rect.Max.Y; y++ {
		for x := few.Rect.Min.X; x < few.Rect.Max.X; x++ {
			r, g, b, _ := full.At(x, y).RGBA()
			like := [3]uint32{r >> (16 - bits), g >> (16 - bits), b >> (16 - bits)}
			i, found := known[like]
			if !found {
				if len(few.Palette) == 256 {
					return nil, false
				}
				i = uint8(len(few.Palette))
				known[like], few.Palette = i, append(few.Palette, full.At(x, y))
			}
			few.SetColorIndex(x, y, i)
		}
	}
	return few, true
}
