import Testing

@testable import rtcshare

@Suite("What a terminal shows")
struct TerminalTests {
    @Test(
        "A status fits into its row, in whole parts",
        arguments: [
            ("Sending 1920x1080, 30 fps", 79, "Sending 1920x1080, 30 fps"),
            ("Sending 1920x1080, 30 fps", 25, "Sending 1920x1080, 30 fps"),
            ("Sending 1920x1080, 30 fps", 24, "Sending 1920x1080"),
            ("Sending 1920x1080, 30 fps", 10, "Sending 19"), ("Sending", 0, ""), ("Sending", -1, ""),
            // Wide characters have two columns.
            ("画面を共有", 9, "画面を共"), ("画面を共有", 10, "画面を共有"), ("a画", 2, "a"),
        ])
    func statusRow(line: String, columns: Int, row: String) {
        #expect(line.statusRow(columns: columns) == row)
    }
}
