package consoletest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// planned is true of a page that shows a plan, which can be applied.
const planned = `document.querySelector("button#apply") && ` + settled

// upload plans a file that the person has chosen.
func (b *tab) upload(text []byte) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "workspace.yaml")
	b.call("write", os.WriteFile(file, text, 0o600))
	// What comes with Enter is a dialog of the system's, which is none of the page's.
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#upload"), []string{file}))
	b.focus("#plan-upload")
	b.press("\r")
}

// apply puts the plan in force that the page shows.
func (b *tab) apply() {
	b.Helper()
	b.focus("button#apply")
	b.press("\r")
	b.wait(`location.pathname === "/console/job" && document.querySelector("main").innerText.includes("Done.")`)
}

// content is the text of the page.
func (b *tab) content() string {
	b.Helper()
	return eval[string](b, `document.querySelector("main").innerText`)
}

// TestAWorkspaceFile is planned and applied by keyboard and without script: first one that is
// pasted, then one that is uploaded.
func TestAWorkspaceFile(t *testing.T) {
	p := openShop(t)
	b := p.open(t)
	b.scripts(false)
	b.enter("ada")
	b.refuses()
	b.visit("/console/workspace")
	b.focus("#apply")
	b.press("\r")
	b.wait(`location.pathname === "/console/workspace/plan" && ` + settled)
	b.focus("#file")
	b.press(`{sources: [{id: website, writeKey: zqSecret}], destinations: [{id: old, type: webhooks, sources: [website], endpoints: [{url: "` + p.receiver.URL + `/old"}]}]}`)
	b.focus("#plan")
	b.press("\r")
	b.wait(planned)
	if text := b.content(); !strings.Contains(text, "~ source website") || !strings.Contains(text, "deliver.old") || strings.Contains(text, "zqSecret") {
		t.Errorf("the plan is %s", text)
	}
	b.scripts(true) // which axe-core is
	b.accessible()
	b.narrow()
	b.scripts(false)
	b.apply()
	b.visit("/console/workspace/plan")
	b.upload(shopWorkspace(p.receiver.URL))
	b.wait(planned)
	if text := b.content(); !strings.Contains(text, "- destination old") || !strings.Contains(text, "+ destination crm") || !strings.Contains(text, "+ audience big_spenders") {
		t.Errorf("the plan is %s", text)
	}
	b.apply()
	b.visit("/console/workspace?kind=destination")
	if text := b.content(); !strings.Contains(text, "Warehouse") || strings.Contains(text, "deliver.old") {
		t.Errorf("in force is %s", text)
	}
}

// refuses: of what is no workspace file, the person reads what is wrong with it.
func (b *tab) refuses() {
	b.Helper()
	for want, text := range map[string][]byte{
		"an empty file": nil, "expected printable UTF-8 text": []byte("sources: [caf\xe9]"), "expected at most 1048576": bytes.Repeat([]byte("#"), 2<<20),
		"The file is too large: expected at most 1,048,576 bytes.": bytes.Repeat([]byte("#"), 20<<20),
	} {
		b.visit("/console/workspace/plan")
		b.upload(text)
		b.wait(fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, want))
		if eval[bool](b, `!!document.querySelector("button#apply")`) {
			b.Errorf("of %d bytes, a plan is made", len(text))
		}
	}
}
