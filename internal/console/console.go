package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/anabranch/anabranch/internal/console/internal/door"
	"github.com/anabranch/anabranch/internal/console/internal/jobs"
	"github.com/anabranch/anabranch/internal/console/internal/tail"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/answers"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
)

// Path is where the console is on the admin address.
const Path = "/console"

// Page is what lists of admin pages say of the console.
func Page() telemetry.Page {
	return telemetry.Page{Path: Path + "/", About: "pages for people: what runs, what waits, what became of an event, and what to do"}
}

// Settings are what the console is made with.
type Settings struct {
	Logger *slog.Logger
	// Version is that of the program, for people.
	Version string
	// Workspace is the one in force.
	Workspace *workspace.Live
	// Way says which stages calls pass through.
	Way pipeline.Way
	// Questions are asked of the brokers; [FromBrokers] does.
	Questions Questions

	// Token is what people log in with; empty: nobody can.
	Token schemas.Secret
	// Open lets people of this machine look without a login.
	Open bool
	// Proxies are the networks of reverse proxies, whose header PersonHeader names the person.
	Proxies      []netip.Prefix
	PersonHeader string
	// Sink says that a webhook sink runs in this process, Answers what endpoints said to its
	// deliveries that failed, nil: they are not kept, and Endpoints how those of a destination
	// fare.
	Sink      bool
	Answers   *answers.Book
	Endpoints func(*workspace.Destination) []endpoints.Endpoint
	// ReadOnly leaves out whatever changes something.
	ReadOnly bool
	// WorkspaceFile is a file that this process keeps in force; empty: none.
	WorkspaceFile string
}

// Console is the pages, and a service that ends with what they have asked. Make it with [New].
type Console struct {
	Settings

	door    *door.Door
	asked   *asked
	jobs    *jobs.Jobs
	tails   *tail.Hub
	plans   heldPlans
	handler http.Handler
}

// New returns a console. It asks nothing before somebody looks at it.
func New(set Settings) *Console {
	c := &Console{Settings: set, asked: newAsked(set.Questions), jobs: jobs.New(set.Logger), tails: tail.New(set.Logger, set.Questions.Follow)}
	c.door = door.New(door.Options{
		Logger: set.Logger, Token: set.Token, Open: set.Open, Proxies: set.Proxies, Header: set.PersonHeader, Path: Path + "/",
	})
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.RedirectHandler(Path+"/", http.StatusPermanentRedirect))
	mux.Handle("GET "+static, http.HandlerFunc(serveAsset))
	mux.HandleFunc("GET "+loginPath, c.showLogin)
	mux.HandleFunc("POST "+loginPath, c.login)
	mux.HandleFunc("POST "+logoutPath, c.logout)
	mux.HandleFunc("GET "+livePath, c.follow)
	for _, p := range c.pages() {
		mux.Handle("GET "+Path+p.path, c.show(p))
	}
	for _, a := range c.actions() {
		mux.Handle("POST "+Path+a.path, c.act(a))
	}
	mux.HandleFunc(Path+"/", c.notFound)
	c.handler = door.Harden(mux, c.refuseSite)
	return c
}

// Handler serves the pages below [Path].
func (c *Console) Handler() http.Handler { return c.handler }

// Name is the service's name in logs.
func (*Console) Name() string { return "console" }

// Run waits for ctx to end, and then for what is being asked, and for tails and jobs, which
// are ended.
func (c *Console) Run(ctx context.Context) error {
	<-ctx.Done()
	c.tails.Close()
	c.jobs.Close()
	c.asked.close()
	return nil
}
