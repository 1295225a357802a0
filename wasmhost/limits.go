package wasmhost

// Which numbers of this package, of the packages below it, and of package fetch are what:
//
// Of the ABI, so that other hosts and guests know them: the names, shapes and limits of package guest/abi, and the bits of actions in
// events.go (guestAll, guestUpdate).
//
// A configuration sets, within bounds, what has a field of [Args]: DefaultGuestSize up to MaxGuestSize, DefaultMemory from
// MinMemory to MaxMemory, DefaultAnswers, DefaultCallTimeout. What follows from callTimeout: cycleWithin, startsWithin, looksEach.
// A program sets DefaultTimeout, of package fetch.
//
// To protect the scheduler from a guest, bounds that no guest for a real cluster meets:
//   - what a guest hands over and declares: those of package guest/abi, maxPrinted
//   - what is shown of it: maxTrap, shownFrames, maxLine, maxSaid
//   - what it logs: logPeriod, maxLogged, lineBytes
//   - what it holds: Budget, maxKeptStack
//   - closePatience for a call that does not end
//   - what a new guest costs: maxSkipped, maxRefused, maxBefore, maxCauses, wakePause
//   - what is fetched: maxRedirects, maxTag, maxManifest, maxRequests, maxBundle, maxReferrers, maxKey
//   - compiling: maxMemory, maxTime and stopTime of a child; package module has limits of its own
//
// One may tune, by a benchmark of bench/ and nothing else: leastAhead, askedAhead and mostAhead; maxWorkers; maxGone and maxGoneBytes; and
// entryBytes, answerBytes, verdictBytes and slotBytes, which are measured sizes.
