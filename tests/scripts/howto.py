"""Applies the examples of README files to a copy of the tree.

usage: howto.py TREE README...

A fenced block whose first line is "LANGUAGE FILE" becomes that file. One with
"after TEXT" or "before TEXT" behind the file goes after or before the one line of
that file that begins with TEXT. Prints how many lines were added to which file."""
import os
import re
import sys

BLOCK = re.compile(r"^```\w+ (\S+)(?: (after|before) ([^\n]*))?\n(.*?)^```$", re.S | re.M)


def insert(path, where, text, added):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    found = [i for i, line in enumerate(lines) if line.startswith(text)
             or line.lstrip().startswith(text)]
    if len(found) != 1:
        sys.exit(f"{path}: '{text}' begins {len(found)} lines, not one")
    at = found[0]
    if where == "after":
        at += 1
        # A statement or a row that goes on in the next lines.
        while not lines[at - 1].rstrip().endswith((";", ")", "},", "[", "]")):
            at += 1
    lines[at:at] = [added]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)


def main():
    tree = sys.argv[1]
    for readme in sys.argv[2:]:
        with open(os.path.join(tree, readme), encoding="utf-8") as file:
            blocks = BLOCK.findall(file.read())
        if not blocks:
            sys.exit(f"{readme} has no example")
        for name, where, text, code in blocks:
            path = os.path.join(tree, name)
            if where:
                insert(path, where, text, code)
            else:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(code)
                os.chmod(path, 0o755)
            print(f"{readme}: {name}: {code.count(chr(10))} lines")


main()
