package schemas_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// A receiver of webhooks looks at the type first, then decodes the whole body.
func Example() {
	body := []byte(`{"version":1,"type":"track","messageId":"m-2","userId":"019mr8mf4r","event":"Item Purchased",` +
		`"properties":{"revenue":"39.95"},"timestamp":"2026-11-21T01:04:29.685Z","context":{}}`)

	var head struct {
		Type schemas.Type `json:"type"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		fmt.Println("decode body:", err)
		return
	}
	switch head.Type {
	case schemas.TypeTrack:
		var track schemas.TrackDelivery
		if err := json.Unmarshal(body, &track); err != nil {
			fmt.Println("decode track:", err)
			return
		}
		at, err := time.Parse(schemas.TimeLayout, track.Timestamp)
		fmt.Println(track.UserID, track.Event, track.Properties["revenue"], at.Year(), err)
	default:
		fmt.Println("not for us:", head.Type)
	}
	// Output: 019mr8mf4r Item Purchased 39.95 2026 <nil>
}
