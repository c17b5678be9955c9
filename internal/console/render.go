package console

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/terminal"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages, each within the frame.
var templates = parseTemplates()

func parseTemplates() map[string]*template.Template {
	base := template.Must(template.New("frame.html").Funcs(template.FuncMap{
		"asset": assetURL, "n": func(n int) string { return terminal.Count(int64(n)) }, "value": exactValue, "text": exactText, "advised": advised,
	}).ParseFS(templateFiles, "templates/frame.html", "templates/parts.html"))
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err) // it is part of the program
	}
	all := make(map[string]*template.Template)
	for _, f := range files {
		all[f.Name()] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, "templates/"+f.Name()))
	}
	return all
}

// frame is what is around each page.
type frame struct {
	Title   string
	Nav     []link
	Person  string
	Session bool
	Login   bool // whether the person could log in
	Version string
	Here    string // this page with its query
	Again   int    // seconds until the page is looked at again; 0: never
	View    any
}

// link is an entry of the navigation.
type link struct {
	Name, URL string
	Current   bool
}

// render answers with a page.
func (c *Console) render(w http.ResponseWriter, v *visit, status int, p *page, shown *content) {
	f := &frame{
		Title: shown.title, Nav: c.navigation(p, v), Person: v.who.Name, Session: v.who.Session,
		Login: c.Token != "" && v.who.Name == "", Version: c.Version, Here: v.URL.RequestURI(),
		Again: int(shown.again / time.Second), View: shown.view,
	}
	var text bytes.Buffer
	if err := templates[p.template].ExecuteTemplate(&text, "frame.html", f); err != nil {
		c.Logger.Error("console: a page could not be shown", "page", v.URL.Path, "error", err)
		http.Error(w, "This page could not be shown; the log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// What would only act on the text and not be seen is shown as \u escapes, in all of it:
	// no template can forget to.
	_, _ = w.Write(terminal.AppendPrintable(make([]byte, 0, text.Len()), text.Bytes())) // the client has gone; there is nobody to tell
}

// draw returns a part of a page that is sent by itself.
func draw(file, part string, view any) ([]byte, error) {
	var text bytes.Buffer
	err := templates[file].ExecuteTemplate(&text, part, view)
	return terminal.AppendPrintable(make([]byte, 0, text.Len()), text.Bytes()), err
}

// navigation is empty for who may not look yet.
func (c *Console) navigation(p *page, v *visit) []link {
	if _, in := c.door.Visitor(v.Request); !in {
		return nil
	}
	var all []link
	for _, other := range c.pages() {
		if other.name != "" {
			all = append(all, link{other.name, Path + strings.TrimSuffix(other.path, "{$}"), other.path == p.path || other.path == p.below})
		}
	}
	return all
}

// refuse answers with a sentence where a page was asked for.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	who, _ := c.door.Visitor(r)
	c.render(w, &visit{Request: r, who: who, now: time.Now()}, status, &page{template: "problem.html"}, &content{title: http.StatusText(status), view: text})
}

func (c *Console) refuseSite(w http.ResponseWriter, r *http.Request) {
	c.refuse(w, r, http.StatusForbidden, "This request comes from a page of another site.")
}

func (c *Console) notFound(w http.ResponseWriter, r *http.Request) {
	if _, in := c.door.Visitor(r); !in {
		c.askIn(w, r)
		return
	}
	c.refuse(w, r, http.StatusNotFound, "There is no such page.")
}

// fail answers a request that a page could not be made of.
func (c *Console) fail(w http.ResponseWriter, v *visit, err error) {
	if p, ok := errors.AsType[*problem](err); ok {
		c.refuse(w, v.Request, p.status, sentence(p.text))
		return
	}
	c.Logger.Warn("console: a page could not be made", "page", v.URL.Path, "error", err)
	c.refuse(w, v.Request, http.StatusInternalServerError, sentence(kafka.Advised(err).Error()))
}

// sentence makes an error one.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// span is a part of a text.
type span struct {
	Text string
	Code bool
}

// advised are the parts of a text, made a sentence, in which commands stand between backticks.
func advised(text string) (spans []span) {
	parts := strings.Split(sentence(text), "`")
	if len(parts)%2 == 0 { // one of them opens nothing
		return []span{{Text: sentence(text)}}
	}
	for i, part := range parts {
		spans = append(spans, span{Text: part, Code: i%2 == 1})
	}
	return spans
}

// exactValue is the attribute value of a field that was filled in before. What a reader could
// not see is written as references, so that the field holds what it did.
func exactValue(text string) template.HTMLAttr {
	return template.HTMLAttr(`value="` + references(text) + `"`) //nolint:gosec // nothing but printable ASCII without quotes and angles is in it as it is
}

// exactText is what is in a field of several lines, as exactValue is.
func exactText(text string) template.HTML {
	return template.HTML(references(text)) //nolint:gosec // as above
}

func references(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c >= ' ' && c <= '~' && !strings.ContainsRune(`"'&<>`+"`", c) {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, "&#x%x;", c)
	}
	return b.String()
}
