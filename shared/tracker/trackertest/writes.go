package trackertest

import "slices"

// writes is what acting does.
var writes = slices.Concat(creating, updating, commenting, assigning, triggering, deletingIssues, deletingComments, repeating)
