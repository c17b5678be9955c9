package decode

import (
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// A delivery carries a category only as a string. No rule refuses another one,
// so what is accepted is made deliverable here.
func TestCategories(t *testing.T) {
	var cases []example
	for sent, stored := range map[string]string{
		`"category":"Docs",`: `"category":"Docs",`,
		`"category":"",`:     `"category":"",`,
		`"category":7,`:      `"category":"7",`,
		`"category":-1.5,`:   `"category":"-1.5",`,
		`"category":null,`:   ``,
		`"category":true,`:   ``,
		`"category":["a"],`:  ``,
		`"category":{},`:     ``,
	} {
		for _, call := range []schemas.Type{schemas.TypePage, schemas.TypeScreen} {
			cases = append(cases, example{
				name: string(call) + " " + sent, path: call, body: `{` + sent + `"userId":"u","messageId":"m"}`,
				stored: []string{`u type=` + string(call) + ` message-id=m {` + stored + `"userId":"u","messageId":"m","type":"` + string(call) + `",` + tail},
			})
		}
		cases = append(cases, kept("nothing to identify: "+sent, `{`+sent+`"userId":"u","messageId":"m"}`, "u", `{`+sent+`"userId":"u","messageId":"m","type":"identify",`+tail))
	}
	checkAll(t, cases)
}
