package system

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/authserver"
	"github.com/aacworkflow/mcp-connector/shared/authserver/page"
	"github.com/aacworkflow/mcp-connector/shared/identity"
)

// In local mode people sign in by saying who they are. That is a convenience of the trial, and
// the page says so; a deployment has a Login that asks an identity provider.

const (
	signInPath   = "/signin"
	personCookie = "aac_person"
	personFor    = 8 * time.Hour
	maxSignIn    = 16 << 10 // bytes of the form
)

// login remembers who somebody said they are, in a cookie that is signed with a key of this
// process. It is an authserver.Login, and serves the form of its own page.
type login struct {
	origin string
	people []choice
	now    func() time.Time
	key    []byte
}

// choice is somebody whom one can be.
type choice struct {
	authserver.Person
	Role identity.Role // in the demo data
}

var (
	_ authserver.Login = (*login)(nil)
	_ http.Handler     = (*login)(nil)
)

func newLogin(origin string, people []choice, now func() time.Time) (*login, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("draw a key: %w", err)
	}
	return &login{origin, people, now, key}, nil
}

// signedIn is what the cookie holds.
type signedIn struct {
	UserID string `json:"user_id"`
	Until  int64  `json:"until"` // µs
}

// Who implements authserver.Login.
func (l *login) Who(r *http.Request) (authserver.Person, bool, error) {
	cookies := r.CookiesNamed(personCookie)
	if len(cookies) != 1 {
		return authserver.Person{}, false, nil
	}
	who, err := l.open(cookies[0].Value)
	if err != nil || !l.now().Before(time.UnixMicro(who.Until)) {
		return authserver.Person{}, false, nil
	}
	p, ok := l.person(who.UserID)
	return p, ok, nil
}

func (l *login) person(id string) (authserver.Person, bool) {
	i := slices.IndexFunc(l.people, func(c choice) bool { return c.UserID == id })
	if i < 0 {
		return authserver.Person{}, false
	}
	return l.people[i].Person, true
}

func (l *login) seal(who signedIn) (string, error) {
	body, err := json.Marshal(who)
	if err != nil {
		return "", fmt.Errorf("encode a cookie: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(append(l.sign(body), body...)), nil
}

func (l *login) open(text string) (who signedIn, err error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < sha256.Size || !hmac.Equal(sealed[:sha256.Size], l.sign(sealed[sha256.Size:])) {
		return who, errors.New("this cookie is not ours")
	}
	err = json.Unmarshal(sealed[sha256.Size:], &who)
	return who, err
}

func (l *login) sign(body []byte) []byte {
	mac := hmac.New(sha256.New, l.key)
	mac.Write(body)
	return mac.Sum(nil)
}

var choicePage = page.Parse(`
<h1>Who are you?</h1>
<p class="note">This is a trial on this computer: there are no passwords, and anybody here can be anybody. A deployed connector asks your identity provider instead.</p>
{{with .Problem}}<p class="problem" role="alert">{{.}}</p>{{end}}
<form method="post" action="{{.Action}}">
<input type="hidden" name="back" value="{{.Back}}">
<fieldset>
<legend>Sign in as:</legend>
{{range $i, $p := .People}}<div class="choice">
<input type="radio" id="who-{{$i}}" name="who" value="{{$p.UserID}}" aria-describedby="of-{{$i}}">
<label for="who-{{$i}}">{{$p.Name}}</label>
<p class="more" id="of-{{$i}}">{{$p.Role}} of {{$p.WorkspaceName}}</p>
</div>
{{end}}</fieldset>
<div class="buttons"><button class="main" type="submit">Continue</button></div>
</form>
`)

type choiceView struct {
	Action, Back, Problem string
	People                []choice
}

// SignIn implements authserver.Login: it shows whom one can be.
func (l *login) SignIn(w http.ResponseWriter, _ *http.Request, back string) {
	l.show(w, http.StatusOK, back, "")
}

func (l *login) show(w http.ResponseWriter, status int, back, problem string) {
	err := choicePage.Write(w, page.Page{
		Status: status, Title: "Who are you?", Data: choiceView{Action: signInPath, Back: back, Problem: problem, People: l.people},
		// A request that turns out to be wrong behind this page leads back to a program here.
		SendsTo: []string{"http://127.0.0.1:*", "http://localhost:*"},
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// SignOut implements authserver.Login.
func (l *login) SignOut(w http.ResponseWriter, r *http.Request, back string) {
	l.keep(w, "", -1)
	l.SignIn(w, r, back)
}

func (l *login) keep(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: personCookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// ServeHTTP takes the choice, and goes back to where it was asked for.
func (l *login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxSignIn)
	if r.ParseForm() != nil || !page.SentFrom(r, l.origin) || !leadsToAuthorize(r.PostForm.Get("back")) {
		l.show(w, http.StatusForbidden, "", "This choice does not come from the page that was shown here. Begin again from your program.")
		return
	}
	back := r.PostForm.Get("back")
	p, ok := l.person(r.PostForm.Get("who"))
	if !ok {
		l.show(w, http.StatusUnprocessableEntity, back, "Nobody is chosen. Choose one of the people below.")
		return
	}
	value, err := l.seal(signedIn{UserID: p.UserID, Until: l.now().Add(personFor).UnixMicro()})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	l.keep(w, value, int(personFor.Seconds()))
	page.Protect(w.Header())
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// leadsToAuthorize tells whether an address is a path of this server that asks for consent. All
// else could lead the browser away.
func leadsToAuthorize(back string) bool {
	u, err := url.Parse(back)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && u.Fragment == "" && u.Path == authserver.AuthorizePath
}
