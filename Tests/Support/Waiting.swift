/// Waits for something to become so.
///
/// Ends too where the test is given up, as its time limit does: what never becomes so fails its test, and keeps no other
/// waiting.
package func waitUntil(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async rethrows {
    while try await !condition(), (try? await Task.sleep(for: .milliseconds(1))) != nil {}
}
