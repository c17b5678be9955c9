package testsend

import (
	"fmt"
	"io"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// Print shows a report to people: what was sent behind ">", what came back behind "<".
func Print(w io.Writer, r *Report) error {
	var text strings.Builder
	fmt.Fprintf(&text, "test delivery of %s to %s\n", r.MessageID, r.Destination)
	if r.Disabled {
		text.WriteString("note: the destination is switched off: no event is delivered to it\n")
	}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		fmt.Fprintf(&text, "\nendpoint %d, %s\n", d.Endpoint, d.URL)
		if len(d.Request) > 0 {
			text.WriteString(message("> ", d.Request, r.Body))
		}
		if len(d.Response) > 0 {
			text.WriteString(message("< ", d.Response, d.Answer))
		}
		fmt.Fprintf(&text, "after %d ms: %s\n", d.MS, d.Verdict)
	}
	_, err := w.Write(terminal.AppendPrintable(nil, []byte(text.String())))
	return err
}

// message is a request or a response, each line behind a mark.
func message(mark string, head []Field, body string) string {
	var text strings.Builder
	for _, f := range head {
		text.WriteString(f.Line() + "\n")
	}
	text.WriteString("\n" + strings.ReplaceAll(body, "\r\n", "\n") + "\n")
	var marked strings.Builder
	for line := range strings.Lines(text.String()) {
		marked.WriteString(mark + line)
	}
	return marked.String()
}
