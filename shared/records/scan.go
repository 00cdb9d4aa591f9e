package records

import (
	"context"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// maxQueries bounds the work of one call: after so many queries a page ends, full or not.
const maxQueries = 3

// scan goes through a range in order and takes what it is looking for, until the page is full.
type scan[T any] struct {
	t     table.Reader
	query table.Query
	limit int
	at    func(T) string // the sort key of a row in the range
	// wanted tells which rows are looked for; fits, if set, whether the page can take one more
	// such row, and is called once for each row taken.
	wanted func(T) bool
	fits   func(T) bool

	page    table.Page
	queries int
	rows    []T
	last    string // position of the last row looked at
}

// fetch makes the next query. The first can be made before wanted is known.
func (s *scan[T]) fetch(ctx context.Context) (err error) {
	s.queries++
	if s.page, err = s.t.Query(ctx, s.query); err != nil {
		return engineError("read a range", err)
	}
	return nil
}

// finish takes rows from the page fetched and from further ones. next is where the following
// page begins, empty at the end.
func (s *scan[T]) finish(ctx context.Context) (rows []T, next string, err error) {
	for {
		full, err := s.take()
		switch {
		case err != nil:
			return nil, "", err
		case full:
			return s.rows, s.last, nil
		case !s.page.More:
			return s.rows, "", nil
		case len(s.rows) >= s.limit || s.queries == maxQueries:
			return s.rows, s.last, nil
		}
		s.query.After = s.last
		if err := s.fetch(ctx); err != nil {
			return nil, "", err
		}
	}
}

// take looks at the rows of one page. It is full if there is a wanted row that has no place.
func (s *scan[T]) take() (full bool, err error) {
	for _, it := range s.page.Items {
		r, err := decode[T](it)
		if err != nil {
			return false, err
		}
		if s.wanted(r.Doc) {
			if len(s.rows) >= s.limit || s.fits != nil && !s.fits(r.Doc) {
				return true, nil
			}
			s.rows = append(s.rows, r.Doc)
		}
		s.last = s.at(r.Doc)
	}
	return false, nil
}
