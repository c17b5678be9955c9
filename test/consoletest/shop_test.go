package consoletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
)

// shop is a product with the names of an everyday business, whose mails fail once it is told.
type shop struct {
	*product

	outage atomic.Bool
}

// openShop starts one for a test, with nothing in force.
func openShop(t *testing.T) *shop {
	t.Helper()
	s := new(shop)
	s.product = newProduct(s.answer)
	stop, err := s.start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// answer takes everything, but for what mail has no template for, or no worker.
func (s *shop) answer(r *http.Request) (status int, text string) {
	if r.URL.Path != "/mail" {
		return http.StatusOK, `{"ok":true}`
	}
	var event struct {
		Event string `json:"event"`
	}
	if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	switch {
	case event.Event == "Invoice Paid":
		return http.StatusUnprocessableEntity, `{"error":"unknown_template","template":"invoice-paid"}`
	case s.outage.Load():
		return http.StatusServiceUnavailable, `{"error":"unavailable","message":"No mail worker is free. Try again in a minute."}`
	}
	return http.StatusAccepted, `{"queued":1}`
}

// shopWorkspace is a workspace file as people write it.
func shopWorkspace(receiver string) []byte {
	return fmt.Appendf(nil, `
sources:
  - id: website
    name: Website
    writeKey: wk_website
    trackingPlan:
      action: block
      events:
        Product Viewed: {properties: {sku: {type: string, required: true}}}
        Product Added: {properties: {sku: {type: string, required: true}}}
        Order Completed:
          properties:
            order_id: {type: string, required: true}
            total: {type: number, required: true}
  - {id: ios, name: iOS app, writeKey: wk_ios}
  - {id: billing, name: Billing, writeKey: wk_billing}
destinations:
  - {id: crm, type: webhooks, name: CRM, sources: [website, ios, billing, personas], sharedSecret: change-me, endpoints: [{url: %[1]s/crm}]}
  - {id: warehouse, type: webhooks, name: Warehouse, sources: [website, ios, billing], sharedSecret: change-me, endpoints: [{url: %[1]s/warehouse}]}
  - {id: mail, type: webhooks, name: Mail, sources: [website, billing, personas], sharedSecret: change-me, endpoints: [{url: %[1]s/mail, headers: {X-Team: growth}}]}
audiences:
  - id: big_spenders
    name: Big spenders
    when:
      all:
        - {did: Order Completed, take: sum, of: total, is: {gte: 500}, within: 90d}
        - any:
            - {trait: plan, is: pro}
            - {did: Subscription Started, within: 30d}
        - not: {did: Subscription Cancelled, within: 30d}
  - {id: cart_abandoned, name: Abandoned cart, when: {all: [{did: Product Added, within: 7d}, {did: Order Completed, times: 0, within: 7d}]}}
traits:
  - {id: orders_30d, name: Orders in 30 days, take: count, did: Order Completed, within: 30d}
  - {id: lifetime_value, name: Lifetime value, take: sum, of: total, did: Order Completed}
`, receiver)
}

// customer is somebody who buys at the shop.
type customer struct {
	id, name, plan string
	orders         []float64 // totals
}

var customers = []customer{
	{"mira.kovac", "Mira Kovač", "pro", []float64{129.90, 89, 349.50}},
	{"jonas.lind", "Jonas Lind", "free", []float64{59.90}},
	{"amara.okafor", "Amara Okafor", "pro", []float64{219, 310.75}},
	{"kenji.mori", "Kenji Mori", "free", nil},
	{"lucia.romero", "Lucía Romero", "pro", []float64{44.90, 74.90}},
	{"tomas.novak", "Tomáš Novák", "free", []float64{612}},
	{"priya.nair", "Priya Nair", "pro", nil},
	{"noor.haddad", "Noor Haddad", "enterprise", []float64{99.90}},
}

// visit is what a customer does before and after an order, or without one.
func (s *shop) visit(c customer) error {
	type object = map[string]any
	sku := "SKU-" + c.id[:2] + "1"
	for _, one := range []struct {
		source, kind string
		body         object
	}{
		{"website", "identify", object{"traits": object{"name": c.name, "email": c.id + "@example.com", "plan": c.plan}}},
		{"website", "page", object{"name": "Catalogue", "properties": object{"path": "/catalogue"}}},
		{"website", "track", object{"event": "Product Viewed", "properties": object{"sku": sku, "price": 44.90}}},
		{"ios", "screen", object{"name": "Basket"}},
		{"website", "track", object{"event": "Product Added", "properties": object{"sku": sku, "quantity": 1}}},
	} {
		one.body["userId"] = c.id
		if err := s.from(one.source, one.kind, one.body); err != nil {
			return err
		}
	}
	return nil
}

// order is completed and paid; without a total, what the tracking plan says is violated.
func (s *shop) order(number int, c customer, total any) error {
	id := strconv.Itoa(number)
	err := s.from("website", "track", map[string]any{
		"userId": c.id, "event": "Order Completed", "messageId": "order-" + id, "properties": map[string]any{"order_id": id, "total": total, "currency": "EUR"},
	})
	if err == nil {
		err = s.from("billing", "track", map[string]any{"userId": c.id, "event": "Invoice Paid", "messageId": "invoice-" + id, "properties": map[string]any{"order_id": id, "amount": total}})
	}
	return err
}

// trade has all customers visit and buy, and returns the number of the last order.
func (s *shop) trade(number int) (int, error) {
	for _, c := range customers {
		if err := s.visit(c); err != nil {
			return 0, err
		}
		for _, total := range c.orders {
			number++
			if err := s.order(number, c, total); err != nil {
				return 0, err
			}
		}
	}
	return number, nil
}
