package trackertest

// reads is what asking answers.
var reads = []testCase{}
