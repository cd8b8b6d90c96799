"""An ONNX network as an engine of half precision runs it, in onnxruntime: each float32 value is cast to half and back where it is
stored. Nodes that are raised read what is stored, keep their constants, and write float32. No code of clvet has a part in it.

Values within the branches of an If are not rounded; a network whose types onnx cannot infer is refused.
"""

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def constants_of(graph):
    """Initializers, and what Constant nodes hold, by name."""
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            found[node.output[0]] = numpy_helper.to_array(helper.get_node_attr_value(node, "value"))
    return found


def float_values(model, constants):
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    types = {row.name: row.type.tensor_type.elem_type for row in [*inferred.value_info, *inferred.input, *inferred.output]}
    unknown = [name for node in model.graph.node for name in node.output if name and name not in types and name not in constants]
    if unknown:
        raise SystemExit(f"the type of {unknown[0]} is unknown")
    return {name for name, kind in types.items() if kind == TensorProto.FLOAT}


def rounded(model, raised):
    """The network with a cast to half and back behind each value, but for the nodes of the names `raised`."""
    graph = model.graph
    constants = constants_of(graph)
    floats = float_values(model, constants)
    low = {out for node in graph.node if node.name not in raised for out in node.output}
    nodes, kept, made = [], {}, set()

    def half(name):
        """The value as half holds it."""
        if name not in floats:
            return name
        if name not in made:
            made.add(name)
            nodes.append(helper.make_node("Cast", [name], [name + "/half"], to=TensorProto.FLOAT16))
            nodes.append(helper.make_node("Cast", [name + "/half"], [name + "/stored"], to=TensorProto.FLOAT))
        return name + "/stored"

    def constant(name, exact):
        value = constants[name]
        if exact or value.dtype != numpy.float32:
            kept[name] = value
            return name
        with numpy.errstate(over="ignore"):
            kept[name + "/stored"] = value.astype(numpy.float16).astype(numpy.float32)
        return name + "/stored"

    def read(name, exact):
        if name in constants:
            return constant(name, exact)
        return half(name) if name and (not exact or name in low) else name

    for node in graph.node:
        if node.op_type == "Constant":
            continue
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend(read(name, node.name in raised) for name in node.input)
        nodes.append(copy)
    outputs = [helper.make_tensor_value_info(read(row.name, True), row.type.tensor_type.elem_type, None) for row in graph.output]
    made_graph = helper.make_graph(nodes, "rounded", list(graph.input), outputs,
                                   [numpy_helper.from_array(value, name) for name, value in kept.items()])
    return helper.make_model(made_graph, opset_imports=list(model.opset_import), ir_version=model.ir_version)


def outputs_of(model, batches):
    """The outputs for each of the inputs, with every node as it stands."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [session.run(None, inputs) for inputs in batches]
