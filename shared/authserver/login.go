package authserver

import "net/http"

// Person is a member of a workspace who has signed in.
type Person struct {
	// Subject is the claim sub of their tokens: the same for ever, and nobody else's.
	Subject       string
	WorkspaceID   string
	WorkspaceName string
	UserID        string // as the tracker knows the member
	Name          string
}

// Login finds out who is at a browser. A deployment brings its own, such as one that sends people
// to the company's identity provider; what routes that needs are its own affair.
type Login interface {
	// Who returns the person that has signed in at the browser which sent r, and false if nobody
	// has. It writes nothing.
	Who(r *http.Request) (Person, bool, error)
	// SignIn answers r so that the person can sign in, and comes back to the address back: a path
	// of this server with a query. It must take the address from here alone, never from a form
	// without checking that it is such a path.
	SignIn(w http.ResponseWriter, r *http.Request, back string)
	// SignOut forgets who has signed in at this browser, then does as SignIn.
	SignOut(w http.ResponseWriter, r *http.Request, back string)
}
