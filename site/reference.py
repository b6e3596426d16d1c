# SPDX-License-Identifier: MIT
"""The public headers as pages: what is said above each declaration, and the declaration."""

import html
import re


def prose(lines, names=()):
    """Comment lines as paragraphs; what is indented stays as it is, and names of ours lead to where they are declared."""
    out, text, code = [], [], []

    def name(match):
        made = f"<code>{match[0]}</code>"
        return f'<a href="#{match[0]}">{made}</a>' if match[0] in names else made

    def close():
        if text:
            words = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(" ".join(text), quote=False))
            words = "".join(part if part.startswith("<code>") else re.sub(r"\b(?:clv|CLV)_\w*[A-Za-z0-9]", name, part)
                            for part in re.split(r"(<code>.*?</code>)", words))
            out.append(f"<p>{words}</p>")
            text.clear()
        if code:
            out.append(f'<pre tabindex="0"><code>{html.escape(chr(10).join(code))}</code></pre>')
            code.clear()

    for line in lines:
        if not line.strip():
            close()
        elif line.startswith("  "):
            if text:
                close()
            code.append(line)
        else:
            if code:
                close()
            text.append(line.strip())
    close()
    return "".join(out)


def name_of(code):
    """What a declaration declares."""
    flat = re.sub(r"\s+", " ", re.sub(r"///.*|//.*", "", code)).strip()
    for pattern in (r"^typedef (?:struct|union|enum) (\w+)", r"^(?:struct|class|enum class|enum) (\w+)", r"^#define (\w+)", r"^typedef [^;{]*\(\s*\*?\s*(\w+)\s*\)\s*\(", r"^typedef .*?(\w+)\s*\(",
                    r"^typedef .*\b(\w+);", r"^using (\w+)", r"^template ?<[^>]*> (?:class|struct) (\w+)", r"(\w+)\s*\("):
        match = re.search(pattern, flat)
        if match:
            return match[1]
    return None


def entries(lines):
    """( comment lines, code ) of the declarations at the left edge."""
    comment, i = [], 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("///"):
            comment.append(re.sub(r"^/// ?", "", line))
            i += 1
        elif re.match(r"(CLV_API|typedef|static inline|template|class|struct|enum|using|inline|constexpr)\b", line) or (comment and line.startswith("#define")):
            begin, depth = i, 0
            while i < len(lines):
                bare = re.sub(r"//.*", "", lines[i])
                depth += bare.count("{") - bare.count("}") + bare.count("(") - bare.count(")")
                i += 1
                is_macro = lines[begin].startswith("#define")
                if is_macro and not lines[i - 1].endswith("\\") or not is_macro and depth == 0 and re.search(r"[;}]\s*$", bare):
                    break
            code = "\n".join(lines[begin:i])
            if re.match(r"static inline|inline|constexpr|template|class", code) and "\n{" in code and not re.match(r"(static )?inline constexpr", code):
                code = code.split("\n{")[0] + ";" if re.match(r"static inline|inline|constexpr", code) else code
            yield comment, code
            comment = []
        else:
            comment = []
            i += 1


def reference_pages(headers):
    """name: ( its first sentence, HTML, names that are anchors )"""
    made = {}
    for header in headers:
        lines = header.read_text().split("\n")
        code = next((i for i, line in enumerate(lines) if re.match(r"#(if|define)|typedef|extern", line)), len(lines))
        begin = next((i for i, line in enumerate(lines[:code]) if line.startswith("// ") and "SPDX" not in line), None)
        about = []
        while begin is not None and begin < len(lines) and lines[begin].startswith("//") and not lines[begin].startswith("///"):
            about.append(re.sub(r"^// ?", "", lines[begin]))
            begin += 1
        declared = list(entries(lines))
        all_names = {name_of(code) for _, code in declared}
        body, names = [], []
        for comment, code in declared:
            name = name_of(code)
            if name is None or name in names or name.startswith("CLEAVE_") and not comment:
                continue
            names.append(name)
            body.append(f'<section><h2 id="{name}"><a class="here" href="#{name}"><code>{name}</code></a></h2>{prose(comment, all_names)}'
                        f'<pre tabindex="0"><code>{html.escape(code)}</code></pre></section>')
        listed = " · ".join(f'<a href="#{name}">{name}</a>' for name in names)
        first = re.split(r"(?<=[.?])\s", " ".join(about).strip())[0] if about else f"{len(names)} declarations"
        made[header.name] = (first, f"<h1><code>{header.name}</code></h1>{prose(about, all_names)}<details><summary>{len(names)} names</summary><p class=names>{listed}</p></details>{''.join(body)}", names)
    return made
