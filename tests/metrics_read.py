"""Reads OpenMetrics strictly: `metrics_read.py FILE EXPRESSION`. The expression sees `value(NAME, label=...)`, the sum of all samples that fit, `labels(NAME)`, all label
sets, `names`, `keys` (of labels) and `exemplars`. The parser is that of python3-prometheus-client where it is installed; it refuses what the format does not allow."""
import sys

sys.path.append("/usr/lib/python3/dist-packages")
from prometheus_client.openmetrics.parser import text_string_to_metric_families

families = list(text_string_to_metric_families(open(sys.argv[1], encoding="utf-8").read()))
samples = [sample for family in families for sample in family.samples]
names = {family.name for family in families}
keys = {key for sample in samples for key in sample.labels}
exemplars = [sample.exemplar for sample in samples if sample.exemplar]


def fits(sample, name, wanted):
    return sample.name == name and all(sample.labels.get(key) == value for key, value in wanted.items())


def value(name, **wanted):
    return sum(sample.value for sample in samples if fits(sample, name, wanted))


def labels(name):
    return [sample.labels for sample in samples if sample.name == name]


print(eval(sys.argv[2]))
