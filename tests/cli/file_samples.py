"""Small files of 22 types, made here, with the labels that magika 1.0.3 (model standard_v3_3) has for them."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import struct
import tarfile
import wave
import zipfile

import numpy
from PIL import Image, ImageDraw

WORDS = "each device says what it can do and then it is asked to show that it does so once more with the same numbers".split()


def picture():
    image = Image.new("RGB", (160, 120), (240, 240, 230))
    draw = ImageDraw.Draw(image)
    for i in range(40):
        draw.line((i * 4, 0, 160 - i * 3, 119), fill=(i * 6, 90, 255 - i * 5), width=2)
    return image


def image_file(kind):
    file = io.BytesIO()
    picture().save(file, kind)
    return file.getvalue()


def text(rows=60):
    return "\n".join(" ".join(WORDS[(row * 7 + i * 5) % len(WORDS)] for i in range(11)) for row in range(rows)).encode()


def zip_file():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(6):
            archive.writestr(f"folder/notes-{i}.dat", text(10 + i))
    return file.getvalue()


def tar_file():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for i in range(4):
            row = tarfile.TarInfo(f"folder/notes-{i}.dat")
            row.size = len(text(20 + i))
            archive.addfile(row, io.BytesIO(text(20 + i)))
    return file.getvalue()


def wave_file():
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16000)
        sound.writeframes((numpy.sin(numpy.arange(8000) / 9) * 9000).astype("<i2").tobytes())
    return file.getvalue()


def npy_file():
    file = io.BytesIO()
    numpy.save(file, numpy.linspace(0, 1, 600).reshape(20, 30))
    return file.getvalue()


def sqlite_file():
    base = sqlite3.connect(":memory:")
    base.execute("create table devices (id integer primary key, name text, memory integer)")
    base.executemany("insert into devices (name, memory) values (?, ?)", [(f"device {i}", i << 20) for i in range(80)])
    base.commit()
    return base.serialize()


def elf_file():
    """A relocatable object for x86-64 with code, strings and sections."""
    names = b"\0.text\0.data\0.shstrtab\0.strtab\0.comment\0.note.GNU-stack\0"
    code = bytes.fromhex("f30f1efa554889e5b8000000005dc3") * 60
    strings = b"\0main.c\0main\0printf\0_GLOBAL_OFFSET_TABLE_\0"
    comment = b"\0GCC: (Debian 12.2.0-14) 12.2.0\0"
    parts, rows, at = [code, names, strings, comment], [], 64
    for name, kind, flags, part in ((1, 1, 6, code), (13, 3, 0, names), (23, 3, 0, strings), (31, 1, 48, comment)):
        rows.append(struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, at, len(part), 0, 0, 1, 0))
        at += len(part)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, 5, 2)
    return header + b"".join(parts) + bytes(64) + b"".join(rows)


C = """#include <stdio.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

static struct node *push(struct node *head, int value) {
  struct node *one = malloc(sizeof *one);
  if (one == NULL) return head;
  one->value = value;
  one->next = head;
  return one;
}

int main(int argc, char **argv) {
  struct node *head = NULL;
  for (int i = 1; i < argc; i++) head = push(head, atoi(argv[i]));
  for (struct node *one = head; one != NULL; one = one->next) printf("%d\\n", one->value);
  return EXIT_SUCCESS;
}
"""

JAVA = """package org.example.devices;

import java.util.ArrayList;
import java.util.List;

public final class Devices {
    private final List<String> names = new ArrayList<>();

    public void add(String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("a device needs a name");
        }
        names.add(name);
    }

    public static void main(String[] args) {
        Devices devices = new Devices();
        for (String name : args) {
            devices.add(name);
        }
        System.out.println(devices.names.size() + " devices");
    }
}
"""

RUST = """use std::collections::HashMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict { Pass, Wrong { error: f32 }, Crash(String) }

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Pass => write!(f, "pass"),
            Verdict::Wrong { error } => write!(f, "wrong by {error}"),
            Verdict::Crash(stage) => write!(f, "crash in {stage}"),
        }
    }
}

fn main() {
    let mut seen: HashMap<&str, Vec<Verdict>> = HashMap::new();
    seen.entry("gemm").or_default().push(Verdict::Wrong { error: 0.5 });
    for (name, verdicts) in &seen {
        println!("{name}: {}", verdicts.iter().map(|v| v.to_string()).collect::<Vec<_>>().join(", "));
    }
}
"""

GO = """package main

import (
\t"fmt"
\t"os"
\t"sort"
)

type device struct {
\tname   string
\tmemory int64
}

func largest(devices []device) (device, error) {
\tif len(devices) == 0 {
\t\treturn device{}, fmt.Errorf("there is no device")
\t}
\tsort.Slice(devices, func(i, j int) bool { return devices[i].memory > devices[j].memory })
\treturn devices[0], nil
}

func main() {
\tfound, err := largest([]device{{"left", 1 << 20}, {"right", 1 << 30}})
\tif err != nil {
\t\tfmt.Fprintln(os.Stderr, err)
\t\tos.Exit(1)
\t}
\tfmt.Println(found.name)
}
"""

SHELL = """#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")" || exit 1

say() { printf '%s\\n' "$*" >&2; }

for file in "$@"; do
  if [ ! -e "$file" ]; then
    say "there is no $file"
    continue
  fi
  size=$(stat -c %s "$file")
  case $file in
    *.gz) gzip -t "$file" && say "$file is whole" ;;
    *) say "$file has $size bytes" ;;
  esac
done
"""

HTML = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Devices of this machine</title>
<link rel="stylesheet" href="page.css">
</head>
<body>
<h1>Devices</h1>
<p>Each device has <em>passed</em> or <strong>failed</strong>.</p>
<table>
<tr><th>name</th><th>memory</th></tr>
<tr><td>left</td><td>1 GiB</td></tr>
<tr><td>right</td><td>2 GiB</td></tr>
</table>
<p><a href="more.html">More of them</a></p>
</body>
</html>
"""

CSS = """:root { --ink: #222; --paper: #fafaf5; }
body { font-family: "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 60em; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #ccc; padding: 0.3em 0.6em; text-align: left; }
a:hover { text-decoration: underline; }
.wrong::before { content: "!"; color: red; font-weight: bold; }
@media (max-width: 30em) { body { font-size: 90%; } .wide { display: none; } }
"""

XML = """<?xml version="1.0" encoding="UTF-8"?>
<devices xmlns="urn:example:devices">
  <device id="1"><name>left</name><memory unit="MiB">1024</memory></device>
  <device id="2"><name>right</name><memory unit="MiB">2048</memory></device>
  <!-- none of them is new -->
  <verdicts><verdict device="1" kernel="gemm">pass</verdict><verdict device="2" kernel="gemm">wrong</verdict></verdicts>
</devices>
"""

PYTHON = """#!/usr/bin/env python3
import argparse
import collections


class Counter:
    def __init__(self, files):
        self.files = files
        self.seen = collections.Counter()

    def count(self):
        for file in self.files:
            with open(file, encoding="utf-8") as lines:
                for line in lines:
                    self.seen.update(line.split())
        return self.seen.most_common(10)


def main():
    parser = argparse.ArgumentParser(description="counts words")
    parser.add_argument("files", nargs="+")
    for word, times in Counter(parser.parse_args().files).count():
        print(f"{word}: {times}")


if __name__ == "__main__":
    main()
"""

SQL = """-- devices and what was found of them
CREATE TABLE devices (id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL, memory BIGINT);
CREATE INDEX devices_by_name ON devices (name);
INSERT INTO devices (id, name, memory) VALUES (1, 'left', 1024), (2, 'right', 2048);
SELECT d.name, COUNT(*) AS wrong FROM devices d LEFT JOIN verdicts v ON v.device = d.id
 WHERE v.verdict = 'wrong' GROUP BY d.name HAVING COUNT(*) > 3 ORDER BY wrong DESC LIMIT 10;
UPDATE devices SET memory = memory * 2 WHERE name LIKE 'l%';
"""

JSON = json.dumps({"devices": [{"name": f"device {i}", "memory": i << 20, "right": i % 3 > 0, "notes": None} for i in range(20)]},
                  indent=2)
CSV = "id,name,memory,right\n" + "".join(f"{i},device {i},{i << 20},{'yes' if i % 3 else 'no'}\n" for i in range(60))


def samples():
    """By name: the label's number, and the bytes."""
    return {
        "python": (143, PYTHON.encode()),
        "c": (17, C.encode()),
        "java": (81, JAVA.encode()),
        "rust": (156, RUST.encode()),
        "go": (61, GO.encode()),
        "shell": (161, SHELL.encode()),
        "html": (71, HTML.encode()),
        "css": (31, CSS.encode()),
        "xml": (206, XML.encode()),
        "sql": (165, SQL.encode()),
        "json": (87, JSON.encode()),
        "csv": (32, CSV.encode()),
        "png": (133, image_file("PNG")),
        "jpeg": (86, image_file("JPEG")),
        "gif": (58, image_file("GIF")),
        "bmp": (15, image_file("BMP")),
        "zip": (212, zip_file()),
        "gzip": (64, gzip.compress(text(), mtime=0)),
        "tar": (175, tar_file()),
        "wav": (195, wave_file()),
        "sqlite": (166, sqlite_file()),
        "elf": (46, elf_file()),
    }


def tokens_of(content):
    """As the network takes a file: the first and the last 1024 bytes without blanks, [1, 2048]; 256 where there is none."""
    begin, end = list(content[:4096].lstrip()[:1024]), list(content[-4096:].rstrip()[-1024:])
    return numpy.array([begin + [256] * (1024 - len(begin)) + [256] * (1024 - len(end)) + end], numpy.int32)
