internal import RTCShareWireFormat

extension String {
    /// The text for HTML, in elements and in quoted attributes, without characters that change the text direction.
    var escapedForMarkup: String {
        var escaped = ""
        for scalar in printable.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
