internal import Glibc
internal import RTCShareMedia

/// Returns the time on the clock of frames' timestamps.
package func monotonicNow() -> Duration { CaptureClock.now }

/// This process's number.
func currentProcessID() -> Int32 { getpid() }
