package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
)

func milliseconds(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

func seconds(d time.Duration) string {
	if d < time.Second {
		return milliseconds(d)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func kilobytes(n int) string { return fmt.Sprintf("%.1f kB", float64(n)/1000) }

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

func (l *look) row() string {
	said := cmp.Or(l.problem, l.said, "-")
	if _, behind, found := strings.Cut(said, ": "); found && l.problem == "" {
		said = behind
	}
	return fmt.Sprintf("| %s | %s, %s | %s | %s | %s, %s | %s | %s |", l.name, milliseconds(l.first), milliseconds(l.whole), kilobytes(l.bytes), said,
		seconds(l.answered), kilobytes(l.last), milliseconds(l.slowest), mebibytes(l.peak))
}

func (r *ran) row() string {
	problem := ""
	if r.problem != "" {
		problem = " " + r.problem
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |%s", r.name, seconds(r.first), seconds(r.whole), kilobytes(int(r.bytes)), mebibytes(r.peak), problem)
}

func printPages(w io.Writer, all []look) {
	_, _ = fmt.Fprintln(w, "| page | first answer: first byte, whole | bytes | says meanwhile | complete after, bytes | slowest answer | memory |\n|---|---|---|---|---|---|---|")
	for i := range all {
		_, _ = fmt.Fprintln(w, all[i].row())
	}
	_, _ = fmt.Fprintln(w)
}

func printCommands(w io.Writer, all []ran) {
	_, _ = fmt.Fprintln(w, "| command | first byte | end | bytes | memory |\n|---|---|---|---|---|")
	for i := range all {
		_, _ = fmt.Fprintln(w, all[i].row())
	}
}
