package trackertest

// writes is what acting does.
var writes = []testCase{}
