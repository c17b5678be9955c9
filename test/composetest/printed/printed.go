package printed

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Delivery is what a receiver has printed of one delivery.
type Delivery struct {
	// Signature is its verdict: "ok", or whatever else it found.
	Signature string
	// MessageID is empty when the body has none.
	MessageID string
}

// signatureMark stands in front of the verdict, which ends the head line.
const signatureMark = "  signature "

// Read calls seen for each delivery that r holds until it ends. A delivery is a
// head line, its body's lines, each indented, and an empty line; what stands
// between deliveries is passed over, and a last one that is cut off too. It fails
// on a body that is not JSON, since every delivery is.
func Read(r io.Reader, seen func(Delivery)) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err == nil {
			if at := strings.LastIndex(line, signatureMark); at >= 0 && line[0] != ' ' {
				err = readBody(lines, strings.TrimSpace(line[at+len(signatureMark):]), seen)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readBody reads the lines that belong to a head line with the verdict given.
func readBody(lines *bufio.Reader, verdict string, seen func(Delivery)) error {
	var body strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "\n" {
			break
		}
		body.WriteString(line)
	}
	var members struct {
		MessageID string `json:"messageId"`
	}
	if err := json.Unmarshal([]byte(body.String()), &members); err != nil {
		return fmt.Errorf("read a printed delivery: %w", err)
	}
	seen(Delivery{Signature: verdict, MessageID: members.MessageID})
	return nil
}
