package command

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// AnySettings says where settings are listed.
const AnySettings = "Settings are environment variables: see `anabranch help config`."

// Usage is the help of a command: what it does, and its flags.
func (c *Command) Usage() string {
	var b strings.Builder
	if len(c.Below) > 0 {
		fmt.Fprintf(&b, "Usage of %s:\n\n", c.Name)
		for i := range c.Below {
			fmt.Fprintf(&b, "  anabranch %s %s\n", c.Name, c.Below[i].synopsis(len("  anabranch "+c.Name+" ")))
		}
		return b.String() + "\n" + c.Help + "\n"
	}
	fmt.Fprintf(&b, "Usage: anabranch %s\n", c.synopsis(len("Usage: anabranch ")))
	if c.Help == "" { // the summary says all
		return b.String()
	}
	b.WriteString("\n" + c.Help + "\n")
	flags, _ := c.declare()
	title := "\nFlags:\n"
	flags.VisitAll(func(f *flag.Flag) {
		b.WriteString(title)
		title = ""
		fmt.Fprintf(&b, "  --%-12s %s%s\n", f.Name, f.Usage, usual(f))
	})
	b.WriteString("\n")
	if c.Settings != "" {
		return b.String() + c.Settings + "\n"
	}
	return b.String() + AnySettings + "\n"
}

// synopsis is the name and the arguments, which begin at a column.
func (c *Command) synopsis(column int) string {
	column += len(c.Name) + 1
	return strings.TrimSpace(c.Name + " " + strings.ReplaceAll(c.Args, "\n", "\n"+strings.Repeat(" ", column)))
}

// usual names the default of a flag that has one worth a word.
func usual(f *flag.Flag) string {
	if f.DefValue == "" || f.DefValue == "false" || strings.Contains(f.Usage, "default") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// List lists commands, each with its arguments and its summary.
func List(all []Command) string {
	var lines [][2]string
	for i := range all {
		c := &all[i]
		if last := len(lines) - 1; last >= 0 && c.Summary != "" && lines[last][1] == c.Summary {
			lines[last][0] += "|" + c.Name
			continue
		}
		args := c.Args
		if len(c.Below) > 0 {
			args = strings.Join(c.below(), "|")
		}
		lines = append(lines, [2]string{strings.TrimSpace("anabranch " + c.Name + " " + args), c.Summary})
	}
	width := 0
	for _, line := range lines {
		width = max(width, len(line[0]))
	}
	text := make([]string, len(lines))
	for i, line := range lines {
		summary := strings.ReplaceAll(line[1], "\n", "\n"+strings.Repeat(" ", width+3))
		text[i] = strings.TrimRight(fmt.Sprintf("  %-*s %s", width, line[0], summary), " ")
	}
	return strings.Join(slices.Clip(text), "\n") + "\n"
}
