package main

import (
	"github.com/anabranch/anabranch/test/sdktest/browser"
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/front"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// browserDrivers run in pages; package browser explains the tags that it knows.
func browserDrivers() []driver.Driver {
	page := func(name, about, folder, sdk string, limits scenario.Limits, runs []driver.Run) driver.Driver {
		return driver.Driver{
			Name: name, About: about + " in Chromium", Folder: folder,
			Needs: []string{"npm", "chromium"}, Setup: npm, Pins: []string{"package.json", "package-lock.json"},
			Start: browser.Speaker(sdk),
			Runs:  runs, Limits: limits, Adds: pageAdds,
		}
	}
	return []driver.Driver{
		page("browser-segment", "@segment/analytics-next 1.84.3", "browser-segment", "@segment/analytics-next", scenario.Limits{}, []driver.Run{
			{Mode: driver.Each, Faults: every},
			{Mode: driver.Each, Tag: "credentials-close"},
			{Mode: driver.Batch, Faults: every},
			{Mode: driver.Batch, Tag: "tls-close"},
			{Mode: driver.Large},
		}),
		// It takes any answer for success, and so tries again after none; a batch never.
		page("browser-segment-old", "@segment/analytics-next 1.59.0", "browser-segment", "analytics-next-1.59",
			scenario.Limits{Fields: []string{"messageId"}}, []driver.Run{
				{Mode: driver.Each, Faults: []front.Fault{front.Cut}},
				{Mode: driver.Batch, Tag: "tls"}, // batches go out by HTTPS alone
				{Mode: driver.Large, Tag: "tls"},
			}),
		// It leaves out members that are null.
		page("browser-rudder", "@rudderstack/analytics-js 3.34.1", "browser-rudder", "@rudderstack/analytics-js",
			scenario.Limits{Types: []string{"screen"}, Fields: []string{"messageId"}, Calls: []string{"track-null"}}, []driver.Run{
				{Mode: driver.Each, Faults: every},
				{Mode: driver.Batch, Faults: every},
				{Mode: driver.Large},
				{Mode: driver.Batch, Tag: "beacon"}, // a beacon's answer is for nobody
			}),
		// It has batches for beacons alone.
		page("browser-rudder-old", "rudder-sdk-js 2.52.21", "browser-rudder", "rudder-sdk-js",
			scenario.Limits{Types: []string{"screen"}, Fields: []string{"messageId"}, Calls: []string{"track-null"}}, []driver.Run{
				{Mode: driver.Each, Faults: every},
				{Mode: driver.Batch, Tag: "beacon"},
			}),
	}
}

// pageAdds are what SDKs know from the page that they are in.
var pageAdds = []string{
	"anonymousId",
	"page.properties.name", "page.properties.category",
	"page.properties.path", "page.properties.referrer", "page.properties.search", "page.properties.title", "page.properties.url",
	"page.properties.initial_referrer", "page.properties.initial_referring_domain", "page.properties.referring_domain", "page.properties.tab_url",
}
