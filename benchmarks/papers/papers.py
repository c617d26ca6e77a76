"""What the papers printed in their tables, and which methods their tables and figures compare.

Methods by the names of ``hashrank methods``; figures by code length. A figure of a method that a
paper trains on other features or through a network is the paper's all the same; the tables say so.
"""

CIFAR_S1 = {
    # TALR 2018, table 1: AP_T, CIFAR-10, first setting
    "bre": {12: 0.361, 24: 0.448, 32: 0.502, 48: 0.533},
    "machash": {12: 0.628, 24: 0.707, 32: 0.726, 48: 0.734},
    "fasthash": {12: 0.678, 24: 0.729, 32: 0.742, 48: 0.757},
    "structhash-trees": {12: 0.664, 24: 0.693, 32: 0.691, 48: 0.700},
    "dpsh": {12: 0.720, 24: 0.757, 32: 0.757, 48: 0.767},
    "dtsh": {12: 0.725, 24: 0.773, 32: 0.781, 48: 0.810},
    "mihash": {12: 0.687, 24: 0.775, 32: 0.786, 48: 0.822},
    "talr-ap": {12: 0.732, 24: 0.789, 32: 0.800, 48: 0.826},
}
CIFAR_S1_2017 = {
    # TALR 2017, table 1, where it differs from that of 2018
    "dpsh": {12: 0.713, 24: 0.727, 32: 0.744, 48: 0.757},
    "dtsh": {12: 0.710, 24: 0.750, 32: 0.765, 48: 0.774},
    "talr-ap": {12: 0.732, 24: 0.789, 32: 0.800, 48: 0.805},
}
CIFAR_S2 = {
    # TALR 2018, table 1: AP_T, CIFAR-10, second setting
    "dpsh": {16: 0.908, 24: 0.909, 32: 0.917, 48: 0.932},
    "dtsh": {16: 0.916, 24: 0.924, 32: 0.927, 48: 0.934},
    "mihash": {16: 0.929, 24: 0.933, 32: 0.938, 48: 0.942},
    "talr-ap": {16: 0.939, 24: 0.941, 32: 0.943, 48: 0.945},
}
CIFAR_S2_2017 = {
    # TALR 2017, table 1, where it differs from that of 2018
    "talr-ap": {16: 0.922, 24: 0.935, 32: 0.939, 48: 0.941},
}
NUS_AP = {
    # TALR 2018, table 1: AP_T, NUS-WIDE
    "bre": {12: 0.561, 24: 0.578, 32: 0.589, 48: 0.607},
    "machash": {12: 0.361, 24: 0.361, 32: 0.361, 48: 0.361},
    "fasthash": {12: 0.646, 24: 0.686, 32: 0.698, 48: 0.712},
    "structhash-trees": {12: 0.639, 24: 0.645, 32: 0.666, 48: 0.669},
    "dpsh": {12: 0.658, 24: 0.674, 32: 0.695, 48: 0.700},
    "dtsh": {12: 0.660, 24: 0.700, 32: 0.707, 48: 0.723},
    "mihash": {12: 0.652, 24: 0.693, 32: 0.709, 48: 0.723},
    "talr-ap": {12: 0.709, 24: 0.734, 32: 0.745, 48: 0.752},
}
NUS_AP_5K = {
    # TALR 2018, table 1: AP@5K, NUS-WIDE
    "dpsh": {12: 0.758, 24: 0.793, 32: 0.818, 48: 0.830},
    "dtsh": {12: 0.773, 24: 0.813, 32: 0.820, 48: 0.838},
    "mihash": {12: 0.767, 24: 0.784, 32: 0.809, 48: 0.834},
    "talr-ap": {12: 0.795, 24: 0.835, 32: 0.848, 48: 0.862},
}
IMAGENET_AP_1000 = {
    # TALR 2018, table 2: AP@1000, ImageNet100
    "hashnet": {16: 0.5059, 32: 0.6306, 48: 0.6633, 64: 0.6835},
    "mihash": {16: 0.5688, 32: 0.6608, 48: 0.6852, 64: 0.6947},
    "talr-ap": {16: 0.5892, 32: 0.6689, 48: 0.6985, 64: 0.7053},
}
NUS_NDCG = {
    # TALR 2018, table 3: NDCG_T, NUS-WIDE
    "bre": {16: 0.805, 32: 0.817, 48: 0.827, 64: 0.834},
    "machash": {16: 0.821, 32: 0.821, 48: 0.821, 64: 0.821},
    "fasthash": {16: 0.885, 32: 0.896, 48: 0.899, 64: 0.902},
    "dpsh": {16: 0.895, 32: 0.905, 48: 0.909, 64: 0.909},
    "dtsh": {16: 0.896, 32: 0.905, 48: 0.911, 64: 0.913},
    "structhash-trees:loss=ndcg": {16: 0.889, 32: 0.893, 48: 0.894, 64: 0.898},
    "mihash": {16: 0.886, 32: 0.903, 48: 0.909, 64: 0.912},
    "talr-ndcg": {16: 0.903, 32: 0.910, 48: 0.916, 64: 0.927},
}
LABELME_NDCG = {
    # TALR 2018, table 3: NDCG_T, LabelMe
    "bre": {16: 0.807, 32: 0.848, 48: 0.871, 64: 0.880},
    "machash": {16: 0.683, 32: 0.683, 48: 0.683, 64: 0.687},
    "fasthash": {16: 0.844, 32: 0.868, 48: 0.855, 64: 0.864},
    "dpsh": {16: 0.844, 32: 0.856, 48: 0.871, 64: 0.874},
    "dtsh": {16: 0.838, 32: 0.852, 48: 0.859, 64: 0.862},
    "structhash-trees:loss=ndcg": {16: 0.857, 32: 0.888, 48: 0.904, 64: 0.915},
    "mihash": {16: 0.860, 32: 0.889, 48: 0.907, 64: 0.914},
    "talr-ndcg": {16: 0.866, 32: 0.895, 48: 0.908, 64: 0.917},
}
TIES_32_BITS = {
    # TALR 2017, figure 2: worst order, AP_T and best order at 32 bits, CIFAR-10, first setting
    "bre": (0.465, 0.502, 0.543),
    "structhash-trees": (0.660, 0.691, 0.727),
    "machash": (0.690, 0.726, 0.755),
    "fasthash": (0.710, 0.742, 0.770),
    "talr-ap": (0.762, 0.800, 0.827),
}
UNAWARE_32_BITS = {
    # TALR 2017, figure 2: AP of one order, that of a sort
    "bre": 0.500,
    "structhash-trees": 0.692,
    "machash": 0.725,
    "fasthash": 0.742,
    "talr-ap": 0.799,
}
MLGAP_CIFAR10 = {
    # mLGAP 2018, table 1, CIFAR-10: equations 16 and 20
    "mlgap": {"dsh": {12: 0.2633, 24: 0.2889}, "dispersed-paper": {12: 0.2796, 24: 0.3461}},
    "ap": {"dsh": {12: 0.6012, 24: 0.6407}, "dispersed-paper": {12: 0.3008, 24: 0.3124}},
}
MLGAP_CIFAR100 = {
    # mLGAP 2018, table 1, CIFAR-100: equations 16 and 25
    "mlgap": {"dsh": {12: 0.0637, 24: 0.0660}, "hierarchical-paper": {12: 0.1703, 24: 0.3310}},
    "ap": {"dsh": {12: 0.1514, 24: 0.1556}, "hierarchical-paper": {12: 0.1156, 24: 0.1187}},
}

OF_RSH = ["spectral", "ssh", "cmh", "wta", "rsh-paper"]
OF_LWH = ["lsh", "spectral", "agh-1", "agh-2", "klsh", "ssh", "rsh-paper", "lwh-paper"]
OF_TALR = ["bre", "machash", "fasthash", "structhash", "dpsh", "dtsh", "mihash"]
