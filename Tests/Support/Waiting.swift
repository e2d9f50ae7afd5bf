/// Waits until a condition holds.
///
/// Also ends when the test is canceled, as by its time limit: a condition that never holds fails its test, and does not
/// block others.
package func waitUntil(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async rethrows {
    while try await !condition(), (try? await Task.sleep(for: .milliseconds(1))) != nil {}
}
