"""The steps of a network, by onnxruntime and by clvet: what one makes is fed back into the next."""

import json
import subprocess

import numpy
import onnxruntime

onnxruntime.set_default_logger_severity(4)


def of_step(feeds, i):
    return {name: value[i] if isinstance(value, list) else value for name, value in feeds.items()}


def step_count(feeds):
    return max([len(value) for value in feeds.values() if isinstance(value, list)], default=1)


def wanted(path, feeds, feedback):
    """The answers of each step, by output."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names, answers, fed = [output.name for output in session.get_outputs()], [], {}
    for i in range(step_count(feeds)):
        answers.append(dict(zip(names, session.run(names, {**of_step(feeds, i), **fed}))))
        fed = {to: answers[-1][output] for output, to in feedback.items()}
    return answers


class Failed(Exception):
    """clvet refused, or ended as it should not."""

    def __init__(self, code, text):
        super().__init__(f"exit {code}: {text}")
        self.code = code


def call(arguments, timeout=900):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout)
    if done.returncode not in (0, 1):
        raise Failed(done.returncode, (done.stderr.strip() or done.stdout.strip())[-600:])
    return done


def check(clvet, path, feeds, options):
    """check.json."""
    first = of_step(feeds, 0)
    shapes = [word for name, value in first.items() if value.ndim for word in ("--shape", f"{name}={'x'.join(map(str, value.shape))}")]
    try:
        return json.loads(call([clvet, "check", path, *shapes, *options, "--quiet", "--json", "-"]).stdout)
    except Failed as failed:
        return {"runs": False, "findings": [str(failed)], "devices": []}
    except json.JSONDecodeError as error:
        return {"runs": False, "findings": [f"check said no JSON: {error}"], "devices": []}


def is_series(feeds):
    """Whether `run --series` can give all steps at once: each value of a list has the shape of the others."""
    lists = [value for value in feeds.values() if isinstance(value, list)]
    return bool(lists) and all(array.shape == value[0].shape for value in lists for array in value)


def saved(folder, values, option="--input"):
    words = []
    for name, value in values.items():
        file = folder / f"{option.strip('-')}-{len(words)}.npy"
        numpy.save(file, value)
        words += [option, f"{name}={file}"]
    return words


def one_run(clvet, path, words, folder, options):
    done = call([clvet, "run", path, *words, "--output-dir", str(folder / "out"), "--quiet", *options])
    if done.returncode:
        raise Failed(done.returncode, done.stderr.strip()[-600:])
    record = json.loads((folder / "out/run.json").read_text())
    return record, {row["name"]: numpy.load(row["file"]) for row in record["outputs"]}


def run(clvet, path, feeds, feedback, folder, options):
    """run.json, and the answers of each step; of what is fed back, a series has the last answer alone."""
    folder.mkdir(exist_ok=True)
    if is_series(feeds):
        lists = {name: numpy.stack(value) for name, value in feeds.items() if isinstance(value, list)}
        others = {name: value for name, value in feeds.items() if name not in lists}
        back = [word for output, to in feedback.items() for word in ("--feedback", f"{output}={to}")]
        record, made = one_run(clvet, path, [*saved(folder, lists, "--series"), *saved(folder, others), *back], folder, options)
        last = step_count(feeds) - 1
        return record, [{name: value if name in feedback else value[i] for name, value in made.items() if name not in feedback or i == last}
                        for i in range(last + 1)]
    fed, answers = {}, []
    for i in range(step_count(feeds)):
        words = [*saved(folder, {**of_step(feeds, i), **fed}), "--repeat", "0"]
        record, made = one_run(clvet, path, words, folder, options)
        answers.append(made)
        fed = {to: made[output] for output, to in feedback.items()}
    return record, answers
