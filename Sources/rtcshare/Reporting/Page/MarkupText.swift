internal import RTCShareWireFormat

extension String {
    /// This text as HTML shows it, in elements and in quoted attributes, without what turns text around.
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
