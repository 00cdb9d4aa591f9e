package demo

// statuses says where each issue stands, by number: b backlog, t todo, p in_progress,
// r in_review, d done, k blocked, c cancelled, x deleted. Spaces only help counting.
const statuses = "ddddrbddtd ddxptddtbc drtpkrpdxd tptrbdcdbt ppptkbdptb rttbdcpktb rt"

// draft is what people wrote into an issue.
type draft struct {
	title       string
	labels      []string
	description string
}

// triage marks an issue that the autopilot "Backlog triage" makes.
var triage = draft{}

// drafts are the issues by number, from 1. AAC-13 is deleted, AAC-29 purged: nothing is left of
// what it said.
var drafts = [NextNumber - 1]draft{
	{"Redirect to the page that was asked for after sign-in", []string{"bug"}, // 1
		"Opening a link to an issue while signed out leads to the start page after sign-in. It should lead to the issue."},
	{"Show who is online on the board", []string{"feature"}, ""},
	{"Search ignores words shorter than three letters", []string{"bug"},
		"Searching for \"CI\" or \"UI\" finds nothing. The index drops short words; two letters should be enough."},
	{"Write down how backups are restored", []string{"docs"},
		"We test the restore every quarter, but only Jonas knows the steps. Put them into the runbook, with the commands."},
	{"Sign out all other devices", []string{"feature", "security"}, // 5
		"Account page: a button that ends every session but the present one, and a list of sessions with device and last use."},
	{"Keyboard shortcut to move a card to another column", []string{"ux"}, ""},
	{"Import from a spreadsheet", []string{"feature"},
		"A CSV with a header line. Required: title. Optional: description, status, priority, assignee by e-mail, labels, due date."},
	{"Rotate the keys that sign session cookies", []string{"security"}, ""},
	{"Explain the priorities in the handbook", []string{"docs"},
		"New members ask what the difference between high and urgent is. One paragraph and two examples each."},
	{"Board takes four seconds to open with 500 cards", []string{"performance"}, // 10
		"Measured on the largest customer board. Most of the time goes into loading avatars one by one."},
	{"Replace the deprecated date library", []string{"tech-debt"}, ""},
	{"Sign-in fails when the e-mail address has capital letters", []string{"bug"},
		"Addresses are compared byte by byte. Compare them in lower case, and merge the two accounts that already exist twice."},
	{"Try confetti when an issue is closed", []string{"ux"},
		"Just an idea from the offsite. Off by default, and never with reduced motion."},
	{"Move the e-mail jobs to the new queue", []string{"tech-debt"},
		"Digest and reminder mails still run on the old queue. Move them, watch one week, then remove the old workers."},
	{"Filter the board by label", []string{"feature", "ux"}, ""}, // 15
	{"Upgrade the database to the next major version", []string{"tech-debt"},
		"Rehearse on a copy first. Expected downtime: under two minutes, announced three days ahead."},
	{"Search results show deleted issues", []string{"bug"}, ""},
	{"Warn before leaving a page with an unsaved comment", []string{"ux"},
		"Long comments get lost when someone clicks a link in the sidebar. Keep a draft in the browser as well."},
	{"Split the notification service from the web server", []string{"tech-debt", "performance"},
		"Sending notifications slows page loads at nine in the morning. Same code, own process; no new features in this step."},
	{"Dark theme for printed pages", []string{"ux"}, ""}, // 20
	triage,
	{"Limit sign-in attempts per address", []string{"security"},
		"Ten failed attempts within fifteen minutes, then wait. Count per account and per address, and tell the user how long."},
	{"Handbook page on writing good bug reports", []string{"docs"},
		"What happened, what was expected, steps, version. With one good and one bad example."},
	{"Compare search engines for full-text search in comments", []string{"feature"},
		"We need stemming in English and German, updates within a minute, and a licence that suits us. Recommend one and say why."},
	{"Import keeps the original creation dates", []string{"feature"}, // 25
		"Imported issues all look as if they were made today. Waiting for the decision whether numbers follow dates."},
	{"Long titles push the due date off the card", []string{"bug", "ux"}, ""},
	{"Write the guide \"Your first week\"", []string{"docs"},
		"For a member who joins an existing workspace: board, own issues, notifications, working with agents. Twenty minutes to read."},
	{"Compress attachments on upload", []string{"performance"}, ""},
	{}, // 29
	triage,
	{"Due dates are off by one day west of Greenwich", []string{"bug"}, // 31
		"A due date is a day, not a moment. The date picker turns it into midnight UTC and back into local time."},
	{"Check permissions in one place", []string{"security", "tech-debt"},
		"Eleven handlers check the role by themselves and two of them forget the archived state. One function, one table, tests for each row."},
	{"Save a search as a view", []string{"feature"}, ""},
	{"Show why a search result matched", []string{"ux"},
		"Highlight the words, and say whether the match is in the title, the description or a comment."},
	{"Ask for a reason when an issue is cancelled", []string{"ux"}, ""}, // 35
	{"Error page names the request id", []string{"feature"},
		"Support asks for it in every second conversation. Show it with a button to copy it."},
	{"Sign in with a text message", []string{"security"},
		"Closed in favour of passkeys: codes by text message can be intercepted and cost money."},
	triage,
	{"Retire the old mobile layout", []string{"tech-debt"},
		"Less than one percent of visits use it. Announce, wait a month, remove."},
	{"Import from other trackers", []string{"feature"}, // 40
		"Teams that switch want to bring their issues along: titles, descriptions, comments, people, labels, links between issues. " +
			"The sub-issues hold the steps."},
	{"A board that stays as you left it", []string{"ux"},
		"Order, collapsed columns and scroll position should survive a reload and follow the member to another device."},
	{"Board loses the card position after a reload", []string{"bug", "ux"},
		"## Steps\n\n1. Open a board with at least ten cards in one column.\n2. Drag the last card to the top.\n3. Reload the page.\n\n" +
			"**Expected:** the card is still at the top.\n**Seen:** it is back at the bottom, in about one of three tries.\n\n" +
			"Started with the release of last month. No error in the console."},
	{"Store the card order on the server", []string{"tech-debt"},
		"The order lives in the browser and is sent with a delay. Send each move at once and let the server answer with the new order."},
	{"Test the card order in two browsers at once", nil, ""},
	{"Reorder columns with the keyboard", []string{"ux"}, // 45
		"Blocked until the drag library supports it; their next release is said to."},
	{"Remember collapsed columns", []string{"ux"}, ""},
	triage,
	{"Sign in without a password", []string{"feature", "security"},
		"Passkeys first, a link by e-mail as the way back in. Passwords stay for those who want them."},
	{"Passkeys on the account page", []string{"security"},
		"Add, name and remove passkeys. The last one cannot be removed while there is no other way to sign in."},
	{"Recovery codes for lost passkeys", []string{"security"}, ""}, // 50
	{"Describe the import format", []string{"docs"},
		"One page: columns, accepted values, limits, what happens to rows that do not fit. With a file to download and try."},
	{"Import comments with their authors", []string{"feature"},
		"Authors without an account appear by name, without a link. Times are kept."},
	{"Show progress while an import runs", []string{"ux"}, ""},
	{"Faster start of the test environment", []string{"performance", "tech-debt"}, ""},
	triage, // 55
	{"Animated avatars", []string{"ux"}, ""},
	{"Memory of the search process grows without end", []string{"bug", "performance"},
		"About 40 MB a day. A restart helps until Monday. Heap profiles of three days are in the shared folder."},
	{"Send the weekly digest in the member's language", []string{"feature"},
		"Blocked by the translations: Spanish and Polish are not ready."},
	{"Explain what agents may see", []string{"docs", "security"},
		"Customers ask this first. One page, reviewed by Jonas, linked from the page on which an agent is added."},
	{"Remove feature flags that are on for everyone", []string{"tech-debt"}, ""}, // 60
	triage,
	{"Paste a screenshot into a comment", []string{"feature", "ux"},
		"Copy and paste works in the description, but not in comments."},
}

// sentences are the comments of the demo workspace. Each fits any issue and any author.
var sentences = []string{
	"I can reproduce this on the test server, but not on my own machine.",
	"Two more customers asked for this last week.",
	"Let us keep the first step small and see how far it gets us.",
	"I wrote down the open questions in the description.",
	"Does this also concern the mobile view?",
	"Good point, I had not thought of that.",
	"I would rather not add a setting for it.",
	"The numbers are in the shared folder, sheet two.",
	"Who knows this part of the code best?",
	"We discussed it on Tuesday: go ahead as described.",
	"This worked before the spring release, so it should be possible to bisect.",
	"I can take it over next week if nobody minds.",
	"Please add a test for the empty case too.",
	"Checked in three browsers, same behaviour everywhere.",
	"That is more work than it looks; two days at least.",
	"Agreed. Should we tell support before it goes out?",
	"The logs show nothing unusual at that time.",
	"I left some remarks on the draft.",
	"Could somebody with access to the customer's workspace have a look?",
	"It is not urgent for us, but it comes up in every demo.",
	"Half of this is done already, see the linked change.",
	"Let us decide this in the next planning round.",
	"Yes, and the error message should say what to do next.",
	"I tried the simple way first and it is good enough.",
	"Can we measure it before and after?",
	"The design has changed a little: the button is now on the right.",
	"Thanks, that explains it.",
	"I would prefer to wait for the next release of the library.",
	"It depends on what we do about the old accounts.",
	"Fine with me.",
}
