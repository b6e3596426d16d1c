# SPDX-License-Identifier: MIT
"""Markdown as our pages use it, to HTML: headings, paragraphs, lists, tables, fences, quotes, rules, HTML of its own, and within lines code, links,
images, bold and slanted text. No package is needed."""

import html
import re


def anchor_of(heading, taken):
    """As GitHub and GitLab make them; a second one of the same name gets a number."""
    text = re.sub(r"`|\]\([^)]*\)|[\]\[(){}<>.,:;!?\"'*/+=&%@|~^\\$…×→]", "", heading.lower())
    anchor = text.strip().replace(" ", "-")
    count = taken.get(anchor, 0)
    taken[anchor] = count + 1
    return f"{anchor}-{count}" if count else anchor


def inline(text, link):
    """link( target ) gives the address to write, or None for text alone."""
    kept = []

    def keep(made):
        kept.append(made)
        return f"\0{len(kept) - 1}\0"

    def picture(match):
        target = link(match[2])
        return keep(f'<img src="{html.escape(target)}" alt="{html.escape(match[1])}" loading="lazy">') if target else html.escape(match[1])

    def anchor(match):
        target = link(match[2])
        return keep(f'<a href="{html.escape(target)}">') + match[1] + keep("</a>") if target else match[1]

    text = re.sub(r"(`+)(.+?)\1(?!`)", lambda m: keep(f"<code>{html.escape(m[2].strip() if len(m[1]) > 1 else m[2])}</code>"), text)
    text = re.sub(r"</?(?:details|summary|br|sub|sup|kbd|b|i|em|strong|img|a|p|div|span|picture|source)\b[^>]*>", lambda m: keep(m[0]), text)
    text = html.escape(text, quote=False)
    text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", picture, text)
    text = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", anchor, text)
    text = re.sub(r"&lt;(https?://[^&]*)&gt;", lambda m: keep(f'<a href="{m[1]}">{m[1]}</a>'), text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![\w*])\*(?!\s)([^*]+?)(?<!\s)\*(?![\w*])", r"<em>\1</em>", text)
    text = text.replace("\\|", "|").replace("\\*", "*").replace("\\_", "_")
    while "\0" in text:
        text = re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], text)
    return text


class Renderer:
    def __init__(self, link):
        self.link = link
        self.taken = {}
        self.headings = []  # ( level, anchor, text )

    def render(self, text):
        return self.blocks(text.split("\n"))

    def blocks(self, lines):
        out, i = [], 0
        while i < len(lines):
            line = lines[i]
            fence = re.match(r"( *)(```+)(.*)$", line)
            if not line.strip():
                i += 1
            elif fence:
                i = self.fence(lines, i, fence, out)
            elif re.match(r"#{1,6} ", line):
                level, words = re.match(r"(#+) +(.*?)\s*#*$", line).groups()
                anchor = anchor_of(words, self.taken)
                self.headings.append((len(level), anchor, re.sub(r"`|\]\([^)]*\)|\[|\*", "", words)))
                out.append(f'<h{len(level)} id="{html.escape(anchor)}"><a class="here" href="#{html.escape(anchor)}">{self.inline(words)}</a></h{len(level)}>'
                           if "](" not in words else f'<h{len(level)} id="{html.escape(anchor)}">{self.inline(words)}</h{len(level)}>')
                i += 1
            elif re.match(r" *\|.*\| *$", line) and i + 1 < len(lines) and re.match(r" *\|[-: |]+\| *$", lines[i + 1]):
                i = self.table(lines, i, out)
            elif re.match(r"\s*([-*+]|\d+[.)])\s+", line):
                i = self.list(lines, i, out)
            elif line.startswith(">"):
                begin = i
                while i < len(lines) and lines[i].startswith(">"):
                    i += 1
                out.append("<blockquote>" + self.blocks([re.sub(r"^> ?", "", one) for one in lines[begin:i]]) + "</blockquote>")
            elif re.match(r"(-{3,}|\*{3,})\s*$", line):
                out.append("<hr>")
                i += 1
            elif re.match(r"\s*</?(details|summary|div|p|picture|source|img|table|br)\b", line):
                out.append(self.own_html(line))
                i += 1
            else:
                begin = i
                while i < len(lines) and lines[i].strip() and not re.match(r" *```|#{1,6} |\s*([-*+]|\d+[.)])\s+|>|\s*</?(details|div)", lines[i] if i > begin else ""):
                    i += 1
                    if i < len(lines) and i + 1 < len(lines) and re.match(r" *\|.*\| *$", lines[i]) and re.match(r" *\|[-: |]+\| *$", lines[i + 1]):
                        break
                out.append(f"<p>{self.inline(' '.join(one.strip() for one in lines[begin:i]))}</p>")
        return "\n".join(out)

    def own_html(self, line):
        def address(match):
            target = self.link(match[2])
            return f'{match[1]}="{html.escape(target)}"' if target else ""
        made = re.sub(r'\b(src|href|srcset)="([^"]*)"', address, line)
        return re.sub(r"(?<=>)([^<>]+)(?=<|$)", lambda m: self.inline(m[1]), made)

    def inline(self, text):
        return inline(text, self.link)

    def fence(self, lines, i, fence, out):
        indent, marks, language = len(fence[1]), fence[2], fence[3].strip()
        begin = i = i + 1
        while i < len(lines) and not lines[i].strip().startswith(marks):
            i += 1
        code = "\n".join(one[indent:] if one[:indent].strip() == "" else one for one in lines[begin:i])
        out.append(f'<pre tabindex="0"><code class="{html.escape(language)}">{html.escape(code)}</code></pre>')
        return i + 1

    def table(self, lines, i, out):
        def cells(line):
            line = re.sub(r"`[^`]*`", lambda m: m[0].replace("|", "\1"), line.strip().strip("|"))
            return [cell.strip().replace("\1", "|") for cell in re.split(r"(?<!\\)\|", line)]
        head = cells(lines[i])
        out.append('<div class="wide" tabindex="0"><table><thead><tr>' + "".join(f"<th>{self.inline(cell)}</th>" for cell in head) + "</tr></thead><tbody>")
        i += 2
        while i < len(lines) and re.match(r" *\|", lines[i]):
            row = cells(lines[i])
            out.append("<tr>" + "".join(f"<td>{self.inline(cell)}</td>" for cell in row + [""] * (len(head) - len(row))) + "</tr>")
            i += 1
        out.append("</tbody></table></div>")
        return i

    def list(self, lines, i, out):
        first = re.match(r"(\s*)([-*+]|\d+[.)])(\s+)", lines[i])
        indent, is_numbered = len(first[1]), first[2][0].isdigit()
        items = []
        while i < len(lines):
            mark = re.match(r"(\s*)([-*+]|\d+[.)])(\s+)", lines[i])
            if mark and len(mark[1]) == indent and mark[2][0].isdigit() == is_numbered:
                items.append([lines[i][mark.end():]])
                width = mark.end()
            elif not lines[i].strip():
                after = next((one for one in lines[i + 1:] if one.strip()), "")
                goes_on = len(after) - len(after.lstrip()) > indent or (mark_of(after) and len(after) - len(after.lstrip()) == indent)
                if not goes_on:
                    break
                items[-1].append("")
            elif len(lines[i]) - len(lines[i].lstrip()) > indent:
                items[-1].append(lines[i][min(width, len(lines[i]) - len(lines[i].lstrip())):])
            elif mark or re.match(r" *```|#{1,6} |>|\|", lines[i]):
                break
            else:
                items[-1].append(lines[i])
            i += 1
        tag = "ol" if is_numbered else "ul"
        made = []
        for item in items:
            body = self.blocks(item)
            only = re.fullmatch(r"<p>(.*?)</p>((?:\n<[uo]l>.*)?)", body, re.S)
            made.append(f"<li>{only[1] + only[2] if only and '<p>' not in only[1] else body}</li>")
        out.append(f"<{tag}>" + "\n".join(made) + f"</{tag}>")
        return i


def mark_of(line):
    return re.match(r"\s*([-*+]|\d+[.)])\s+", line)
