package authserver

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/aacworkflow/mcp-connector/shared/authserver/page"
	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// ask stores the request and shows the consent page.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, req request, who Person, back string) error {
	browser, err := s.browser(w, r)
	if err != nil {
		return err
	}
	id, err := s.secret("")
	if err != nil {
		return err
	}
	until := s.now().Add(flowLife)
	op, err := put(flowKey(id), flowRow{
		Request: req, Person: personOf(who), Browser: hash(browser), Back: back, Until: micros(until),
	}, 1, until, table.IfAbsent())
	if err != nil {
		return err
	}
	if err := s.Tables.Commit(r.Context(), []table.Op{op}); err != nil {
		return err
	}
	return s.showConsent(w, id, req, req.Ticked, who, http.StatusOK, "")
}

var (
	errElsewhere = op.NewStatusError(refuse(oidc.ErrInvalidRequest(), "this answer does not come from the page that was shown in this browser: begin again from your program"), http.StatusForbidden)
	errOver      = refuse(oidc.ErrInvalidRequest(), "this page was answered already, or waited for too long: begin again from your program")
)

// decide takes the answer of a consent page.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if err := s.decided(w, r); err != nil {
		s.showError(w, r, err)
	}
}

func (s *Server) decided(w http.ResponseWriter, r *http.Request) error {
	if !page.SentFrom(r, s.Issuer) {
		return errElsewhere
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	id := form.Get("flow")
	flow, err := read[flowRow](r.Context(), s.Tables, flowKey(id))
	switch {
	case err != nil:
		return err
	case !flow.found() || !s.now().Before(timeOf(flow.Doc.Until)):
		return errOver
	case !s.isBrowser(r, flow.Doc.Browser):
		return errElsewhere
	}
	who, ok, err := s.Login.Who(r)
	if err != nil {
		return err
	}
	if !ok || personOf(who) != flow.Doc.Person {
		return errElsewhere
	}
	switch form.Get("decision") {
	case "allow":
		return s.allow(w, r, id, flow, who, form["scope"])
	case "deny":
		return s.deny(w, r, flow)
	case "switch":
		if err := s.endFlow(r, flow); err != nil {
			return err
		}
		s.Login.SignOut(w, r, flow.Doc.Back)
		return nil
	}
	return refuse(oidc.ErrInvalidRequest(), "the answer is neither yes nor no: use the buttons of the page")
}

// allow issues a code for the scopes that were left ticked. The page is used up with it.
func (s *Server) allow(w http.ResponseWriter, r *http.Request, id string, flow kept[flowRow], who Person, ticked []string) error {
	req := flow.Doc.Request
	scopes := slices.DeleteFunc(slices.Clone(req.Scopes), func(scope identity.Scope) bool { return !slices.Contains(ticked, string(scope)) })
	if len(scopes) == 0 {
		return s.showConsent(w, id, req, nil, who, http.StatusUnprocessableEntity, "Nothing is ticked. Tick what the program may do, or choose Cancel.")
	}
	code, err := s.secret(codePrefix)
	if err != nil {
		return err
	}
	grant, err := s.id()
	if err != nil {
		return err
	}
	until := s.now().Add(codeLife)
	keep, err := put(codeKey(code), codeRow{
		Request: req, Person: flow.Doc.Person, Scopes: scopes, GrantID: grant, Until: micros(until),
	}, 1, until.Add(codeMemory), table.IfAbsent())
	if err != nil {
		return err
	}
	ops, err := s.letIn(r.Context(), req.Client.ID)
	if err != nil {
		return err
	}
	ops = append(ops, keep)
	if err := s.endFlow(r, flow, ops...); err != nil {
		return err
	}
	s.sendBack(w, r, req, url.Values{"code": {code}})
	return nil
}

// deny tells the client that the person said no.
func (s *Server) deny(w http.ResponseWriter, r *http.Request, flow kept[flowRow]) error {
	if err := s.endFlow(r, flow); err != nil {
		return err
	}
	s.sendBack(w, r, flow.Doc.Request, url.Values{"error": {string(oidc.AccessDenied)}, "error_description": {"the person said no"}})
	return nil
}

// endFlow uses the page up, in one commit with what follows from it: of two answers one counts.
func (s *Server) endFlow(r *http.Request, flow kept[flowRow], ops ...table.Op) error {
	ops = append([]table.Op{table.Delete(flow.key, table.IfVersion(flow.Version))}, ops...)
	err := s.Tables.Commit(r.Context(), ops)
	switch {
	case table.FailedAt(err, 0):
		return errOver
	case table.IsConflict(err):
		return tooMany(time.Second)
	}
	return err
}

// sendBack leads the browser to the client. The address was checked when the page was made.
func (s *Server) sendBack(w http.ResponseWriter, r *http.Request, req request, more url.Values) {
	page.Protect(w.Header())
	http.Redirect(w, r, withAnswer(req.Redirect, s.answer(req.State, more)), http.StatusSeeOther)
}
